// What every page does, with a session or saved as a file: answers go into the figures, choices are asked of
// whoever can answer them (page.js or offline.js), presets, themes, and the chosen map's colour.
(() => {
  const X = window.Explorer, page = X.page, root = document.documentElement
  const all = (selector, from = document) => [...from.querySelectorAll(selector)]

  // --- answers: columns for view.source of the figures, or lists of texts and properties
  const seen = new Map()
  function take(name, told, changed) {
    const kind = name.slice(name.lastIndexOf('.') + 1)
    if (kind == 'texts' || kind == 'math')
      return told.node?.forEach((node, k) => X.say(node, told.text[k], kind == 'math'))
    if (kind == 'props')
      return told.model?.forEach((m, k) => X.setProperty(m, told.property[k], told.value[k]))
    const target = X.model(name)
    if (!target) return
    for (const column in told) {
      if (seen.get(`${name}/${column}`) === told[column]) continue
      seen.set(`${name}/${column}`, told[column])
      if (!(column in target.data)) { X.shout(`${name} has no column ${column}`); continue }
      target.data[column] = told[column]
      X.touched.add(target)
      changed.add(name)
    }
  }
  X.take = answers => {
    const changed = new Set()
    if (answers.length) Paint.together(() => {
      for (const [name, told] of answers) take(name, told, changed)
      X.repaint(changed)
    })
    Paint.after(() => {
      root.removeAttribute('data-pending')
      document.dispatchEvent(new Event('explorer:answered'))
    })
  }

  // --- the state in words: what is chosen, and where the browser's own positions are
  X.server = page.server
  X.told = () => {
    const told = {...X.server}
    for (const [axis, {stops, start}] of Object.entries(page.axes)) {
      const stop = stops[X.at[axis]]
      if (stop != start) told[axis] = String(stop)
    }
    if (root.dataset.theme != 'light') told.theme = root.dataset.theme
    return told
  }
  const nearest = (axis, value) => {
    const {stops} = page.axes[axis]
    return stops.reduce((best, s, k) => Math.abs(s - value) < Math.abs(stops[best] - value) ? k : best, 0)
  }
  // Set some words, the others stay; a sentence for each one that cannot be taken.  The server refuses its own.
  X.set = told => {
    const refused = [], up = {}
    for (const [word, text] of Object.entries(told)) {
      const stops = page.axes[word]?.stops
      if (text !== null && typeof text != 'string' && typeof text != 'number')
        refused.push(`${word.slice(0, 40)} is given neither a text nor a number`)
      else if (stops) {
        const value = Number(text)
        if (String(text ?? '').trim() === '' || !(value >= stops[0] && value <= stops.at(-1)))
          refused.push(`${word} = ${String(text).slice(0, 40)} is no number from ${stops[0]} to ${stops.at(-1)}`)
        else { X.play(word, false); X.seek(word, nearest(word, value)) }
      } else if (word == 'theme') {
        if (text == 'light' || text == 'dark') X.setTheme(text)
        else refused.push(`theme = ${String(text).slice(0, 40)} is neither light nor dark`)
      } else if (page.words.includes(word)) up[word] = text === null ? null : String(text)
      else refused.push(`${word.slice(0, 40)} is not a word of this page`)
    }
    if (Object.keys(up).length) refused.push(...X.choose(up) ?? [])
    X.moved?.(false)
    return refused
  }
  let coming = null // the words of a whole state, until its answer is there
  // Exactly these words, all others at their defaults, and the preset that this state began from.
  X.restore = (told, preset = null) => {
    const up = {}
    coming = told
    X.begin(preset)
    for (const axis in page.axes) X.play(axis, false)
    for (const axis in page.axes) { X.seek(axis, nearest(axis, +(told[axis] ?? page.axes[axis].start))); X.opened(axis) }
    X.setTheme(told.theme == 'dark' ? 'dark' : 'light')
    for (const word of page.words) up[word] = told[word] ?? null
    return X.choose(up, true) ?? []
  }
  const sign = document.querySelector('.brand i') // alone in the map's colour: a variable would restyle the whole page
  X.chosen = () => {
    sign?.style.setProperty('color', `var(--slot-${(X.server.phi ?? page.phi).split('~')[0]})`)
    document.dispatchEvent(new CustomEvent('explorer:chosen'))
  }

  // --- what is said of a choice: under the presets, or at the foot of a window that has its notes far below
  const caption = document.querySelector('.presets .caption')
  const say = text => { if (caption) caption.textContent = text; compare() }
  const apart = () => !!caption && getComputedStyle(caption.parentNode).position == 'fixed'
  const framed = root.hasAttribute('data-embed')
  // The view's head, and where the words stand apart the first figure with it, as little as possible: the figure goes first
  // In somebody's frame nothing moves: what is said would go out of it, and their page might move too
  function head() {
    if (framed) return
    const show = selector => document.querySelector(selector)?.scrollIntoView({block: 'nearest'})
    show('.card .head')
    if (apart()) show('.card .row [data-figure]')
  }
  document.querySelector('[data-caption-close]')?.addEventListener('click', () => say(''))

  // --- a preset: its mark, what is said of it and its folds follow the states that began from it, which history keeps
  const presets = all('[data-preset]'), owned = new Map(presets.map(button => [button, JSON.parse(button.dataset.preset)]))
  const own = button => button ? owned.get(button) : {}
  const chosen = () => presets.find(button => button.dataset.slug === X.preset)
  const place = ({dataset: {at}}) => at && document.querySelector(`[data-figure="${at}"], [data-text="${at}"]`)
  X.ownOfPreset = () => own(chosen())
  X.begin = slug => {
    const before = chosen()
    X.preset = slug
    const button = chosen()
    X.preset = button ? slug : null // an address may name a preset of another page
    for (const other of presets) other.toggleAttribute('data-chosen', other == button)
    if (button != before) say(button?.dataset.caption ?? '') // what was closed stays so as long as the preset stays
    for (const fold of button ? [button.closest('details'), place(button)?.closest('details')] : []) if (fold) fold.open = true
    if (button) aside(button)
    compare()
  }
  // Off its preset a state keeps it, and mark and words step back: they are true of the state that it began from.  A
  // play-through tells what the words say, so it counts only where it comes to rest.
  const standing = document.querySelector('.presets .saying')
  function left(words) {
    const text = (told, word) => told[word] ?? page.defaults[word], shown = (axis, i) => Math.min(i, X.end(axis))
    if (page.words.some(word => text(coming ?? X.server, word) !== text(words, word))) return true
    if (Object.keys(page.axes).some(X.plays)) return chosen().hasAttribute('data-left')
    return Object.entries(page.axes).some(([axis, {start}]) => shown(axis, X.at[axis]) != shown(axis, nearest(axis, +(words[axis] ?? start))))
  }
  function compare() {
    const button = chosen(), off = !!button && left(own(button))
    for (const other of presets) other.toggleAttribute('data-left', off && other == button)
    standing?.toggleAttribute('data-left', off && caption.textContent == button.dataset.caption)
  }
  for (const kind of ['explorer:seek', 'explorer:rest']) document.addEventListener(kind, compare)
  document.addEventListener('explorer:chosen', () => { coming = null; compare() })
  // Presets in one line over the view: it is moved along until the button stands in it, before its faded end
  const FADED = 36
  function aside(button) {
    const line = button.closest('.presets'), room = line.getBoundingClientRect(), {left, right} = button.getBoundingClientRect()
    line.scrollLeft += Math.min(0, left - room.left) || Math.max(0, right - room.right + FADED)
  }
  function lead(button) {
    const to = place(button)
    if (!to) return head()
    if (!framed) return to.scrollIntoView({block: 'nearest'}) // as little as possible: the caption should stay in sight
    const {top, bottom} = to.getBoundingClientRect()
    scrollBy(0, top < 0 ? top : Math.max(0, Math.min(top, bottom - innerHeight))) // the frame's own page alone
  }
  for (const button of presets) button.addEventListener('click', () => {
    X.restore({theme: root.dataset.theme, ...own(button)}, button.dataset.slug)
    say(button.dataset.caption)
    X.moved?.(true)
    lead(button)
  })
  // An address that names a preset shows what a click on it shows; what comes back from history keeps its place
  const first = !history.state && !location.hash
  X.begin(history.state?.preset ?? page.preset)
  for (const axis in page.axes) if (X.at[axis] == nearest(axis, +(X.ownOfPreset()[axis] ?? page.axes[axis].start))) X.opened(axis)
  if (X.preset && first) X.ready.then(() => {
    const go = () => { if (!scrollY) lead(chosen()) }
    if (root.hasAttribute('data-pending')) document.addEventListener('explorer:answered', go, {once: true}); else Paint.seen(go)
  })
  for (const button of all('[data-theme-switch]')) button.addEventListener('click', () => {
    X.setTheme(root.dataset.theme == 'dark' ? 'light' : 'dark')
    X.moved?.(false)
  })

  // --- marks that can be switched off, and the question: its answer comes with the choice, or when it is opened for all
  const mark = (names, on) => { for (const name of names.split(' ')) if (name) X.setProperty(name, 'visible', on) }
  function reveal(part) {
    for (const other of all('[data-option]', part)) {
      const {option} = other.dataset
      other.dataset.verdict = option == part.dataset.right ? 'right' : option == part.dataset.picked ? 'wrong' : ''
      other.disabled = true
    }
    part.querySelector('.locked').hidden = true
    part.querySelector('.because').hidden = false
    mark(part.dataset.marks, true)
  }
  X.reveal = () => all('.predict').forEach(reveal)
  for (const box of all('input[data-marks]')) box.addEventListener('change', () => mark(box.dataset.marks, box.checked))
  for (const part of all('.predict')) for (const button of all('[data-option]', part)) button.addEventListener('click', () => {
    part.dataset.picked = button.dataset.option
    for (const other of all('[data-option]', part)) other.setAttribute('aria-pressed', other == button)
    if (document.documentElement.dataset.reveal == 'locked') part.querySelector('.locked').hidden = false
    else {
      reveal(part)
      if (!apart()) return
      say(part.querySelector('.because').textContent)
      head()
    }
  })

  // --- hovering a map's colour brings it forward everywhere
  function forward(slot) {
    for (const m of X.models.values()) {
      const own = m.glyph && m.tags.find(tag => String(tag).startsWith('slot:'))?.slice(5)
      if (own && page.phis.includes(own)) m.glyph.setv({line_alpha: !slot || own == slot ? 1 : 0.2}, {sync: false})
    }
  }
  document.addEventListener('pointermove', event => { // pointerover is not heard outside a group, from one button to the next
    const path = event.composedPath(), button = path.find(node => node.classList?.contains('bk-btn') || node.dataset?.choice == 'phi')
    if (button && path.some(node => node.dataset?.control == 'phi'))
      hovered(button.dataset.value ?? page.phis[[...button.parentNode.children].indexOf(button)])
    else if (!path.some(node => node.dataset?.figure)) hovered(null)
  })
  let held = null
  function hovered(slot) {
    if (slot === held) return
    held = slot
    forward(slot)
  }
  X.hover = told => {
    const own = told.renderer.tags.find(tag => String(tag).startsWith('slot:'))?.slice(5)
    const on = (told.index.indices?.length ?? 0) + (told.index.line_indices?.length ?? 0)
    if (on) hovered(own); else if (held == own) hovered(null)
  }
})()
