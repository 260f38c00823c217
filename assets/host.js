// The page around this one may drive it by messages: slides step the demo, a handout reads its state.
// A message counts only from the parent window, and only from the origin that the address names (host=), or from
// this page's own origin.  See docs/embedding.md.
(() => {
  const X = window.Explorer, page = X.page, root = document.documentElement
  if (window.parent === window) return
  const file = location.protocol == 'file:', host = page.kept.host || location.origin
  const ours = () => { try { return window.parent.location.origin == host } catch { return false } }
  if (!file && !page.kept.host && !ours()) return // framed by a site that nobody named: nothing to say to it
  const heard = event => event.source === window.parent && (event.origin === host || (file && event.origin == 'null'))
  const tell = (kind, more = {}) =>
    window.parent.postMessage({explorer: kind, view: page.name, ...more}, file ? '*' : host)
  const state = id => tell('state', {id, words: X.told(), playing: Object.keys(page.axes).filter(X.plays)})

  const known = axis => typeof axis == 'string' && Object.hasOwn(page.axes, axis)
  const doing = {
    get: () => {},
    set: ({words}) => words && typeof words == 'object' ? X.set(words) : ['set needs words: {name: value}'],
    step: ({axis = page.axis, by = 1}) => {
      if (!known(axis) || !Number.isInteger(by)) return ['step needs an axis of this page and a whole number']
      X.step(axis, by)
    },
    play: ({axis = page.axis}) => known(axis) ? X.play(axis, true) : ['play needs an axis of this page'],
    pause: () => { for (const axis in page.axes) X.play(axis, false) },
    reset: () => X.restore({theme: root.dataset.theme}),
    reveal: () => X.reveal(),
  }
  window.addEventListener('message', async event => {
    const told = event.data
    if (!heard(event) || typeof told?.explorer != 'string') return
    await X.ready
    const refused = Object.hasOwn(doing, told.explorer)
      ? doing[told.explorer](told) ?? [] : [`${told.explorer.slice(0, 40)} is none of ${Object.keys(doing).join(', ')}`]
    if (refused.length) tell('refused', {id: told.id, sentences: refused})
    state(told.id)
  })
  X.ready.then(() => { tell('ready'); state() })
  for (const kind of ['explorer:rest', 'explorer:chosen']) document.addEventListener(kind, () => state())
  document.addEventListener('explorer:refused', ({detail}) => tell('refused', {sentences: detail}))
})()
