// A pointer near a round stop means it: while a slider is dragged, round stops hold it within a few pixels.
// The keyboard still goes stop by stop.  It hears the slider before the reels do.
(() => {
  const X = window.Explorer, NEAR = 4 // px: how far a hand is off
  let held = null, x = 0
  const slider = event => event.target.matches?.('input[type=range][data-axis]') ? event.target : null
  addEventListener('pointerdown', event => { held = slider(event); x = event.clientX }, true)
  addEventListener('pointermove', event => { x = event.clientX }, true)
  for (const kind of ['pointerup', 'pointercancel', 'keydown']) addEventListener(kind, () => { held = null }, true)
  addEventListener('input', event => {
    if (!held || slider(event) != held) return
    const {left, width} = held.getBoundingClientRect()
    const thumb = parseFloat(getComputedStyle(held).getPropertyValue('--thumb')), way = width - thumb
    const off = k => Math.abs(left + thumb / 2 + way * k / +held.max - x)
    const best = X.page.axes[held.dataset.axis].rounds.reduce((a, b) => off(b) < off(a) ? b : a, -1e9)
    if (off(best) <= NEAR) held.value = best
  }, true)
})()
