// A page and its session: answers come down and are put into the figures, choices and taps go up,
// the address follows.  Reels do not need any of this.
(() => {
  const X = window.Explorer, page = X.page, all = s => [...document.querySelectorAll(s)]
  let session = null, quietly = false

  // --- answers: a table of columns and the arrays that it points at, in one piece (app/packing.py)
  const {ndarray} = Bokeh.require('core/util/ndarray'), utf8 = new TextDecoder()
  function inflated(bytes) { // not through a Blob, whose bytes go to the browser's own process and back
    const {readable, writable} = new DecompressionStream('deflate'), writer = writable.getWriter(), failed = () => {}
    writer.write(bytes).catch(failed) // what fails there fails here too
    writer.close().catch(failed)
    return new Response(readable).arrayBuffer()
  }
  const rows = text => text.split('\x1e').map(row => row[0] == '\x1f' ? row.slice(1).split('\x1f') : row)
  async function unpack({piece: [bytes], deflated: [small]}) {
    const whole = small ? await inflated(bytes) : bytes.buffer.slice(bytes.byteOffset)
    const begins = 4 + new DataView(whole).getUint32(0, true)
    const table = JSON.parse(utf8.decode(new Uint8Array(whole, 4, begins - 4)))
    for (const columns of Object.values(table)) for (const [name, {dtype, shape, start, stop}] of Object.entries(columns))
      if (dtype) {
        const content = whole.slice(begins + start, begins + stop)
        columns[name] = dtype == 'text' ? rows(utf8.decode(content)) : ndarray(content, {dtype, shape})
      }
    return Object.entries(table)
  }
  // --- and what the page is told by itself, in that piece or in sources named answer.page.what
  const own = {
    'page.words': words,
    'page.download': told => { if (told.name?.length) download(told) },
    'page.sweep': sweep,
    'page.cite': told => X.say('page.cite', told.text?.[0] ?? ''),
    'page.code': told => X.say('page.code', told.text?.[0] ?? ''),
    'page.saved': told => document.dispatchEvent(new CustomEvent('explorer:saved', {detail: told.text?.[0]})),
    'page.paste': told => document.dispatchEvent(new CustomEvent('explorer:pasted', {detail: {text: told.text?.[0] ?? '', taken: !!told.taken?.[0]}})),
    'page.notice': told => {
      X.say('page.notice', told.text?.[0] ?? '')
      if (told.text?.[0]) document.dispatchEvent(new CustomEvent('explorer:refused', {detail: told.text}))
    },
  }
  // Pieces are taken up one after the other, each as it was when it came: the next one stands in the same source
  let waiting = new Set(), line = X.ready
  async function drain(told) {
    const pieces = await Promise.all(told.map(([name, columns]) => name == 'page.told' ? unpack(columns) : [[name, columns]]))
    const answers = pieces.flat()
    if (!answers.length) return // a piece may come to try the way
    X.take(answers.filter(([name]) => !(name in own)))
    for (const [name, columns] of answers) own[name]?.(columns)
  }
  function later(source) {
    if (!waiting.size) queueMicrotask(() => {
      const told = [...waiting].map(source => [source.name.slice('answer.'.length), source.data])
      waiting = new Set()
      line = line.then(() => drain(told)).catch(error => X.shout(`an answer could not be shown: ${error.message}`))
    })
    waiting.add(source)
  }

  // --- events: one source, counted, checked by the server like the address
  let count = 0
  const early = [] // what is asked before the session is there
  const send = (kind, told) => session ? session.get_model_by_name('page.event')?.setv({
    data: {kind: [kind], told: [JSON.stringify(told)], count: [++count]}
  }) : early.push([kind, told])

  // --- a button on which the pointer rests is mostly pressed next: the server makes its answer ready
  const REST = 30 // ms
  let resting = 0, over = null
  document.addEventListener('pointermove', event => { // pointerover is not heard outside a group, from one button to the next
    if (!session || event.buttons) return
    const path = event.composedPath(), button = path.find(node => node.classList?.contains('bk-btn'))
    if (button === over) return
    over = button
    clearTimeout(resting)
    const word = path.find(node => node.dataset?.control)?.dataset.control
    if (!word || !button || button.classList.contains('bk-active')) return
    resting = setTimeout(() => send('near', {word, at: [...button.parentNode.children].indexOf(button)}), REST)
  })

  // --- address
  const spelled = told => {
    const text = new URLSearchParams({...told, ...page.kept}).toString().replaceAll('%7E', '~')
    return text ? `?${text}` : ''
  }
  const query = () => spelled(X.told())
  // What other pages are handed: choices made by hand, not those that a preset of this page made
  function byHand() {
    const made = X.ownOfPreset()
    return spelled(Object.fromEntries(Object.entries(X.told()).filter(([word, text]) => made[word] !== text)))
  }
  const bare = text => { const told = new URLSearchParams(text); told.delete('theme'); return told.toString() }
  let timer = 0, home = null // the state that the part behind # belongs to: it is dropped with it
  function address(push) {
    clearTimeout(timer)
    const here = query(), part = bare(here) == (home ??= bare(here)) ? location.hash : ''
    const known = here + part == location.search + location.hash && X.preset == history.state?.preset
    if (!known) history[push ? 'pushState' : 'replaceState'](X.preset && {preset: X.preset}, '', location.pathname + here + part)
    document.dispatchEvent(new Event('explorer:addressed'))
    const handed = byHand()
    for (const link of all('a[data-page]')) link.href = link.dataset.page + (link.dataset.carry ? carried(link, handed) : handed) + (link.dataset.part ?? '')
  }
  // A link that hands on a number of this page: its text has it
  function carried(link, handed) {
    const told = new URLSearchParams(handed)
    told.set(link.dataset.carry, link.querySelector('[data-text]').textContent)
    return `?${told}`
  }
  const soon = () => { clearTimeout(timer); timer = setTimeout(() => address(false), 250) }
  function words(told) {
    const push = !quietly
    quietly = false
    X.server = Object.fromEntries((told.word ?? []).map((word, k) => [word, told.text[k]]))
    Paint.after(X.chosen)
    Paint.seen(() => address(push)) // a picture is worth more than its address
  }
  X.moved = address
  X.choose = (up, whole) => {
    // A whole state has its history entry already: the words that come back make none; no words come if none differ.
    quietly = whole && page.words.some(word => (up[word] ?? null) !== (X.server[word] ?? null))
    send('words', up)
  }
  window.addEventListener('popstate', event => {
    home = bare(location.search)
    X.restore(Object.fromEntries(new URLSearchParams(location.search)), event.state?.preset)
  })
  const stops = () => Object.fromEntries(Object.entries(page.axes).map(([axis, {stops}]) => [axis, String(stops[X.at[axis]])]))
  const here = () => location.origin + location.pathname
  X.write = told => send('code', {...told, link: here(), at: stops()})
  X.save = () => send('save', {link: here(), at: stops(), preset: X.preset, theme: document.documentElement.dataset.theme})
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
    // What an answer changes on the controls comes in messages of its own, each of which would hold up the picture
    const apply = session.apply_json_patch.bind(session)
    session.apply_json_patch = (patch, ...more) => {
      if (patch.events.some(({model}) => session.get_model_by_id(model?.id)?.name?.startsWith('control.'))) Paint.seen(() => apply(patch, ...more))
      else apply(patch, ...more)
    }
    carrier.properties.tags.change.connect(adopt)
    adopt()
    document.documentElement.dataset.session = 'ready'
    for (const [kind, told] of early.splice(0)) send(kind, told)
    session.on_event?.('connection_lost', () => { document.documentElement.dataset.session = 'lost' })
  }
  function find() {
    const found = (window.Bokeh?.documents ?? []).find(d => d !== session && d.get_model_by_name('page.event'))
    if (found) attach(found)
    if (!session || document.documentElement.dataset.session == 'lost') setTimeout(find, session ? 500 : 25)
  }

  // --- a config goes up as text; a table comes down as a file
  X.paste = text => send('paste', {text})
  X.unpaste = () => send('words', {own: null})
  for (const button of all('[data-export]'))
    button.addEventListener('click', () => send('export', {format: button.dataset.export, T: page.axes.T.stops[X.at.T]}))
  function download({name, text}) {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text[0]]))
    link.download = name[0]
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }

  // --- a sweep: asked for here, computed elsewhere
  for (const button of all('[data-sweep]')) button.addEventListener('click', () =>
    send('sweep', {do: button.dataset.sweep, name: button.closest('[data-sweep-of]').dataset.sweepOf}))
  function sweep({name, state, fraction, text, device, finding}) {
    if (!name?.length) return
    if (document.querySelector('.device')) X.say('page.device', device[0])
    X.say(`${name[0]}_said`, text[0])
    if (finding[0]) X.say(`${name[0]}_finding`, finding[0])
    const home = document.querySelector(`[data-sweep-of="${name[0]}"]`), running = state[0] == 'running'
    const bar = home.querySelector('progress')
    bar.hidden = !running
    bar.value = fraction[0]
    for (const button of home.querySelectorAll('[data-sweep]'))
      button.hidden = {run: running, cancel: !running, back: !['done', 'cancelled'].includes(state[0])}[button.dataset.sweep]
  }

  // A field that finds opens its list on every click, not only when it gets the focus
  document.addEventListener('click', event => {
    const field = event.composedPath()[0]
    if (field.matches?.('input') && field.getRootNode().querySelector('.bk-menu')) field.dispatchEvent(new Event('focusin'))
  })
  document.addEventListener('explorer:seek', soon)
  // What has come to rest is painted first, and then told
  document.addEventListener('explorer:rest', ({detail}) => Paint.seen(() => {
    address(false)
    send('rest', {word: detail.axis, value: page.axes[detail.axis].stops[detail.index]})
  }))
  for (const button of all('[data-copy-link]')) button.addEventListener('click', async () => {
    address(false)
    try { await navigator.clipboard.writeText(location.href); X.say('page.copied', 'Link copied'); button.dataset.done = '' }
    catch { prompt('The link to this state:', location.href) }
    setTimeout(() => { X.say('page.copied', 'Copy link'); delete button.dataset.done }, 1600)
  })
  X.chosen()
  address(false)
  find()
})()
