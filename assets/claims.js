// A claim that the notes link to, memory?n=64#C116: what it says stands above the view, and the places where this state
// shows its value are marked, the line of a folded list unfolded.  The mark goes with the state.
(() => {
  const X = window.Explorer, claims = X.page.claims, strip = document.querySelector('.claimed-says')
  if (!strip) return // the overview and a saved file have no claims to mark
  const all = selector => [...document.querySelectorAll(selector)]
  let came = '' // the number for which the page was moved and the focus set

  const lineOf = (node, number) => 'lines' in node.dataset ? node.querySelector(`[data-claim="${number}"]`) : node
  const places = (number, {nodes, figures}) => [
    ...nodes.flatMap(name => all(`[data-text="${name}"]`)).map(node => lineOf(node, number)),
    ...figures.map(name => document.querySelector(`[data-figure="${name}"]`)),
  ].filter(Boolean)

  function show() {
    const number = location.hash.slice(1), claim = Object.hasOwn(claims, number) ? claims[number] : null
    for (const node of all('.claimed')) node.classList.remove('claimed')
    strip.hidden = !claim
    if (!claim) { came = ''; return }
    if (strip.dataset.claim != number) {
      strip.dataset.claim = number
      strip.querySelector('strong').textContent = number
      strip.querySelector('span').textContent = claim.says
      strip.querySelector('small').textContent = claim.caveat
      const back = strip.querySelector('a')
      back.href = `notes${location.search}${back.dataset.part = `#${number}`}`
    }
    const found = places(number, claim)
    for (const node of found) {
      node.classList.add('claimed')
      const fold = node.closest('details')
      if (fold) fold.open = true
    }
    if (!found.length || came == number && document.activeElement != document.body) return
    const again = came == number // an answer has written the lines anew, and with them went the focus
    came = number
    found[0].tabIndex = -1
    found[0].focus({preventScroll: true})
    if (!again) found[0].scrollIntoView({block: 'center'})
  }
  strip.querySelector('button').addEventListener('click', () => {
    const [first] = all('.claimed[tabindex]')
    history.replaceState(null, '', location.pathname + location.search)
    show()
    first?.focus({preventScroll: true})
  })
  document.addEventListener('explorer:addressed', show)
  document.addEventListener('explorer:answered', show)
  window.addEventListener('hashchange', show)
  X.ready.then(show)
})()
