// A page and its session: answers come down and are put into the figures, choices and taps go up,
// the address follows.  Reels do not need any of this.
(() => {
  const X = window.Explorer, page = X.page, all = s => [...document.querySelectorAll(s)]
  let session = null, server = page.server, quietly = false

  // --- answers: a session source named answer.view.source feeds view.source of the figures
  const seen = new Map(), changed = new Set()
  let waiting = new Set()
  function take(source) {
    const name = source.name.slice('answer.'.length), kind = name.slice(name.lastIndexOf('.') + 1), told = source.data
    if (kind == 'texts' || kind == 'math')
      told.node?.forEach((node, k) => X.say(node, told.text[k], kind == 'math'))
    else if (kind == 'props')
      told.model?.forEach((m, k) => X.setProperty(m, told.property[k], told.value[k]))
    else if (name == 'page.words') words(told)
    else if (name == 'page.download') { if (told.name?.length) download(told) }
    else if (name == 'page.paste') X.say('page.paste', told.text?.[0] ?? '')
    else if (name == 'page.notice') X.say('page.notice', told.text?.[0] ?? '')
    else {
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
  }
  function drain() {
    const sources = waiting
    waiting = new Set()
    changed.clear()
    for (const source of sources) take(source)
    X.repaint(changed)
    document.documentElement.removeAttribute('data-pending')
  }
  function later(source) {
    if (!waiting.size) queueMicrotask(() => X.ready.then(drain))
    waiting.add(source)
  }

  // --- events: one source, counted, checked by the server like the address
  let count = 0
  const send = (kind, told) => session?.get_model_by_name('page.event')?.setv({
    data: {kind: [kind], told: [JSON.stringify(told)], count: [++count]}
  })

  // --- address
  function browserWords() {
    const told = {}
    for (const [axis, {stops, start}] of Object.entries(page.axes)) {
      const stop = stops[X.at[axis]]
      if (stop != start) told[axis] = String(stop)
    }
    if (document.documentElement.dataset.theme != 'light') told.theme = 'dark'
    return told
  }
  const query = () => {
    const text = new URLSearchParams({...server, ...browserWords(), ...page.kept}).toString().replaceAll('%7E', '~')
    return text ? `?${text}` : ''
  }
  let timer = 0
  function address(push) {
    clearTimeout(timer)
    const here = query()
    if (here != location.search) history[push ? 'pushState' : 'replaceState'](null, '', location.pathname + here)
    for (const link of all('a[data-page]')) link.href = link.dataset.page + here
  }
  const soon = () => { clearTimeout(timer); timer = setTimeout(() => address(false), 250) }
  function words(told) {
    server = Object.fromEntries((told.word ?? []).map((word, k) => [word, told.text[k]]))
    address(!quietly)
    quietly = false
    chosen()
  }
  window.addEventListener('popstate', () => {
    restore(Object.fromEntries(new URLSearchParams(location.search)))
  })
  function restore(told) {
    const up = {}
    for (const axis in page.axes) {
      const {stops, start} = page.axes[axis], value = +(told[axis] ?? start)
      X.seek(axis, stops.reduce((best, s, k) => Math.abs(s - value) < Math.abs(stops[best] - value) ? k : best, 0))
    }
    X.setTheme(told.theme == 'dark' ? 'dark' : 'light')
    for (const word of page.words) up[word] = told[word] ?? null
    // The words that come back belong to an entry that is there already; none come if the server knows them all.
    quietly = page.words.some(word => (told[word] ?? null) !== (server[word] ?? null))
    send('words', up)
  }
  for (const button of all('[data-preset]')) button.addEventListener('click', () => {
    restore({theme: document.documentElement.dataset.theme, ...JSON.parse(button.dataset.preset)})
    address(true)
    for (const other of all('[data-preset]')) other.toggleAttribute('data-chosen', other == button)
    button.parentNode.querySelector('.caption').textContent = button.dataset.caption
  })

  // --- the chosen map's colour, and hovering another one
  const phi = () => (server.phi ?? page.phi).split('~')[0]
  function chosen() {
    document.documentElement.style.setProperty('--phi', `var(--slot-${phi()})`)
  }
  document.addEventListener('pointerover', event => {
    const path = event.composedPath(), button = path.find(node => node.classList?.contains('bk-btn'))
    if (button && path.some(node => node.dataset?.control == 'phi'))
      hovered(page.phis[[...button.parentNode.children].indexOf(button)])
    else if (!path.some(node => node.dataset?.figure)) hovered(null)
  })
  let held = null
  function hovered(slot) {
    if (slot === held) return
    held = slot
    X.forward(slot)
  }
  X.hover = told => {
    const own = told.renderer.tags.find(tag => String(tag).startsWith('slot:'))?.slice(5)
    const on = (told.index.indices?.length ?? 0) + (told.index.line_indices?.length ?? 0)
    if (on) hovered(own); else if (held == own) hovered(null)
  }
  X.tapRow = ({y}) => { document.activeElement?.blur(); send('tap', {what: 'row', at: Math.floor(y)}) }
  X.tapPair = ({x}) => { document.activeElement?.blur(); if (x >= 0.5) send('words', {pair: String(Math.round(x))}) }

  // --- the session arrives after the page; when it is lost, the page says so and the reels go on
  function attach(found) {
    session = found
    const carrier = session.get_model_by_name('page.carrier'), known = new Set()
    const adopt = () => {
      for (const m of carrier.tags) if (m.name?.startsWith('answer.') && !known.has(m)) {
        known.add(m)
        m.properties.data.change.connect(() => later(m))
        later(m)
      }
    }
    carrier.properties.tags.change.connect(adopt)
    adopt()
    document.documentElement.dataset.session = 'ready'
    session.on_event?.('connection_lost', () => { document.documentElement.dataset.session = 'lost' })
  }
  function find() {
    const found = (window.Bokeh?.documents ?? []).find(d => d !== session && d.get_model_by_name('page.event'))
    if (found) attach(found)
    if (!session || document.documentElement.dataset.session == 'lost') setTimeout(find, session ? 500 : 25)
  }

  // --- a pasted config goes up as text; a table comes down as a file
  const LARGEST = 1 << 20
  const paste = text => text.length > LARGEST ? X.say('page.paste', 'This file is larger than 1 MiB; a config.json is far smaller.') : send('paste', {text})
  for (const box of all('[data-paste]')) {
    box.addEventListener('dragover', event => { event.preventDefault(); box.classList.add('over') })
    box.addEventListener('dragleave', () => box.classList.remove('over'))
    box.addEventListener('drop', async event => {
      event.preventDefault()
      box.classList.remove('over')
      const file = event.dataTransfer.files[0]
      paste(box.value = file ? await file.slice(0, LARGEST + 1).text() : event.dataTransfer.getData('text'))
    })
    box.addEventListener('paste', () => setTimeout(() => paste(box.value), 0))
    document.querySelector('[data-paste-go]').addEventListener('click', () => paste(box.value))
    document.querySelector('[data-paste-clear]').addEventListener('click', () => { box.value = ''; X.say('page.paste', ''); send('words', {own: null}) })
    document.querySelector('[data-paste-file]').addEventListener('change', async event => {
      const file = event.target.files[0]
      if (file) paste(box.value = await file.slice(0, LARGEST + 1).text())
    })
  }
  for (const button of all('[data-export]'))
    button.addEventListener('click', () => send('export', {format: button.dataset.export, T: page.axes.T.stops[X.at.T]}))
  function download({name, text}) {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text[0]]))
    link.download = name[0]
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }

  document.addEventListener('explorer:seek', soon)
  document.addEventListener('explorer:rest', ({detail}) => {
    address(false)
    send('rest', {word: detail.axis, value: page.axes[detail.axis].stops[detail.index]})
  })
  for (const button of all('[data-theme-switch]')) button.addEventListener('click', () => {
    X.setTheme(document.documentElement.dataset.theme == 'dark' ? 'light' : 'dark')
    address(false)
  })
  for (const button of all('[data-copy-link]')) button.addEventListener('click', async () => {
    address(false)
    try { await navigator.clipboard.writeText(location.href); X.say('page.copied', 'Link copied') }
    catch { prompt('The link to this state:', location.href) }
    setTimeout(() => X.say('page.copied', 'Copy link'), 1600)
  })
  chosen()
  address(false)
  find()
})()
