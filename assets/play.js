// Hands on the reels: sliders, steps, and play on the browser's clock.  The next frame comes only after the last one was
// asked to paint.
(() => {
  const X = window.Explorer, page = X.page, playing = {}, fresh = new Set()
  const all = selector => [...document.querySelectorAll(selector)]
  const held = axis => Math.min(X.at[axis], X.end(axis))

  // A position that nobody has chosen is where a page or a preset opened: play begins before it, at the first stop
  X.opened = axis => fresh.add(axis)
  X.step = (axis, by) => {
    play(axis, false)
    fresh.delete(axis)
    X.seek(axis, Math.min(held(axis) + by, X.end(axis)))
    X.rest(axis)
  }

  // Stops a second, until a hand sets them: the most, of those that the eye follows, at which all of it takes three seconds
  const FOLLOWED = 20, SECONDS = 3
  function pace(axis) {
    const box = document.querySelector(`[data-speed="${axis}"]`)
    if (!box || box.dataset.chosen) return +(box?.value ?? FOLLOWED)
    const offered = [...box.options].map(option => +option.value).filter(speed => speed <= FOLLOWED)
    return +(box.value = offered.findLast(speed => X.end(axis) / speed >= SECONDS) ?? offered[0])
  }

  function play(axis, on) {
    if (!!playing[axis] == on) return
    playing[axis] = on
    for (const button of all(`[data-play="${axis}"]`)) button.setAttribute('aria-pressed', on)
    if (!on) return X.rest(axis)
    if (fresh.has(axis) || X.at[axis] >= X.end(axis)) X.seek(axis, 0)
    fresh.delete(axis)
    let then = performance.now(), owed = 0
    const tick = now => {
      if (!playing[axis]) return
      owed += Math.min(now - then, 250) * pace(axis) / 1000
      then = now
      if (owed >= 1) { X.seek(axis, Math.min(X.at[axis] + Math.floor(owed), X.end(axis))); owed %= 1 }
      if (X.at[axis] >= X.end(axis)) play(axis, false); else requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  }
  X.play = play
  X.plays = axis => !!playing[axis]

  for (const input of all('input[data-axis]')) {
    const {axis} = input.dataset
    input.addEventListener('input', () => { play(axis, false); fresh.delete(axis); X.seek(axis, +input.value) })
    input.addEventListener('change', () => X.rest(axis))
    // A touch stops the play, also where it moves nothing; blank plays and pauses
    input.addEventListener('pointerdown', () => play(axis, false))
    input.addEventListener('keydown', event => {
      if (/^(Arrow|Page|Home|End)/.test(event.key)) play(axis, false)
      if (event.key != ' ' || !document.querySelector(`[data-play="${axis}"]`)) return
      event.preventDefault()
      if (!event.repeat) play(axis, !playing[axis])
    })
  }
  for (const button of all('[data-play]'))
    button.addEventListener('click', () => play(button.dataset.play, !playing[button.dataset.play]))
  for (const button of all('[data-step]'))
    button.addEventListener('click', () => X.step(button.dataset.step, +button.dataset.by))
  for (const box of all('[data-speed]')) box.addEventListener('change', () => { box.dataset.chosen = 'yes' })
  const paces = () => { for (const box of all('[data-speed]')) pace(box.dataset.speed) }
  document.addEventListener('explorer:answered', paces)
  X.ready.then(paces)
})()
