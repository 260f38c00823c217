// In a frame that is too low for a view its figures get lower, so that nothing is cut; what is still too tall is
// scrolled to, and the page says so.
(() => {
  const X = window.Explorer, root = document.documentElement
  if (!root.hasAttribute('data-embed')) return
  const LEAST = 0.8 // of its own height: in a lower figure names run into each other
  const homes = [...document.querySelectorAll('[data-figure]')], px = text => parseFloat(text)
  const own = new Map(homes.map(home => [home, {height: px(home.style.height), basis: px(home.closest('figure')?.style.flexBasis)}]))
  const tall = () => Math.ceil(document.body.getBoundingClientRect().height)

  // A figure of fixed width, a matrix, keeps its shape
  function lay(factor) {
    root.toggleAttribute('data-tight', factor < 1)
    for (const [home, {height, basis}] of own) {
      home.style.height = `${Math.round(height * factor)}px`
      if (basis) home.closest('figure').style.flexBasis = `${Math.round(basis * factor)}px`
    }
    return tall()
  }
  // The largest factor that fits: heights go nearly straight with it.  1 where even the least does not fit.
  function factor(room) {
    let [low, high] = [LEAST, 1], most = lay(1)
    if (most <= room) return 1
    let least = lay(LEAST)
    if (least > room) return 1
    if ((most = lay(1 - 1e-9)) <= room) return 1 - 1e-9 // closer together is enough
    for (let k = 0; k < 4 && most > least; k++) {
      const middle = low + (high - low) * (room - least) / (most - least), now = lay(middle)
      if (now <= room) [low, least] = [middle, now]; else [high, most] = [middle, now]
    }
    return low
  }
  // Height of the view with its figures as high as they are drawn, px
  X.own = () => { const told = lay(1); lay(drawn); return told }

  let drawn = 1, laid = 0
  function fit() {
    const found = factor(innerHeight)
    lay(found)
    if (found != drawn) for (const figure of X.figures()?.roots() ?? []) {
      const home = homes.find(home => home.dataset.figure == figure.name), {height, basis} = own.get(home)
      figure.setv({height: Math.round(height * found), ...(basis && figure.width ? {width: Math.round(basis * found)} : {})}, {sync: false})
    }
    drawn = found
    laid = tall()
    root.toggleAttribute('data-over', laid > innerHeight)
    more()
  }
  const said = Object.assign(document.createElement('p'), {className: 'beyond', hidden: true, textContent: 'scroll: there is more below'})
  document.body.append(said)
  const more = () => { said.hidden = !root.hasAttribute('data-over') || scrollY + innerHeight >= root.scrollHeight - 8 }
  let asked = 0
  const soon = () => { cancelAnimationFrame(asked); asked = requestAnimationFrame(fit) }
  X.ready.then(fit)
  addEventListener('resize', soon)
  addEventListener('scroll', more, {passive: true})
  new ResizeObserver(() => { if (laid && tall() != laid) soon() }).observe(document.body) // a widget came, a line wrapped
})()
