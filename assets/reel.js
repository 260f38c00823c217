// Figures from a file, reels under the finger.  Every number shown here was computed in Python: this
// script finds the frame of a position and copies it where its binds say.  It works without a server.
window.Explorer = (() => {
  const page = JSON.parse(document.getElementById('page-data').textContent)
  const models = new Map(), reels = {}, at = {}, nodes = new Map(), touched = new Set()
  let theme = document.documentElement.dataset.theme, documentOfFigures = null

  const shout = text => console.error(`Explorer: ${text}`)
  const model = name => models.get(name) ?? (shout(`no model is named ${name}`), null)
  const all = (selector, root = document) => [...root.querySelectorAll(selector)]

  // --- colours: a slot has one value per theme, and a value names its slot
  const slotOf = new Map(Object.entries(page.slots).flatMap(([slot, pair]) => pair.map(hex => [hex, slot])))
  const hexOf = slot => page.slots[slot][theme == 'dark' ? 1 : 0]
  const swap = value => {
    if (typeof value == 'string') return slotOf.has(value) ? hexOf(slotOf.get(value)) : value
    if (Array.isArray(value)) return value.some(v => slotOf.has(v)) ? value.map(swap) : value
    if (value && typeof value.value == 'string' && slotOf.has(value.value)) return {...value, value: swap(value.value)}
    return value
  }
  function recolour() {
    for (const m of documentOfFigures?._all_models.values() ?? [])
      for (const prop of m) {
        if (!/color$|^palette$/.test(prop.attr)) continue
        const old = prop.get_value(), now = swap(old)
        if (now !== old) m.setv({[prop.attr]: now}, {sync: false})
      }
  }
  function setTheme(name) {
    theme = document.documentElement.dataset.theme = name
    Paint.forget()
    recolour()
  }

  // --- a frame's piece, and its place
  const typed = column => ArrayBuffer.isView(column)
  function piece(reel, bind, i) {
    if (bind.also) return row(model(bind.pool).data[bind.column], i * page.axes[bind.also].stops.length + at[bind.also])
    if (!bind.pool) return row(reel.data[bind.column], i)
    const pool = model(bind.pool).data[bind.column], start = reel.data[bind.start][i]
    return bind.stop ? {array: pool, start, length: reel.data[bind.stop][i] - start} : row(pool, start)
  }
  function row(column, i) {
    if (!typed(column) || !(column.shape?.length > 1)) return column[i]
    const length = column.shape.slice(1).reduce((a, b) => a * b)
    return {array: column, start: i * length, length}
  }
  // Whether anything is another than before: what is not is not painted
  function copyInto(target, value, scale = 1) {
    const {array, start, length} = value?.array ? value : Array.isArray(value) || typed(value)
      ? {array: value, start: 0, length: value.length} : {array: [value], start: 0, length: 1}
    let moved = false
    for (let k = 0; k < target.length || k < length; k++) {
      const old = target[k]
      target[k] = k >= length ? NaN : scale == 1 ? array[start + k] : array[start + k] * scale
      moved ||= !Object.is(target[k], old)
    }
    return moved
  }
  function write(source, name, value, bind) {
    const target = source.data[name]
    if (!target) return shout(`${source.name} has no column ${name}`)
    if (copyInto(bind.image ? target[0] : target, value, bind.scale)) touched.add(source)
  }
  function setProperty(name, property, value) {
    const m = model(name)
    if (!m) return
    if (!(property in m.properties)) return shout(`${name} has no property ${property}`)
    if (typeof value == 'string' && value.startsWith('slot:')) value = hexOf(value.slice(5))
    m.setv({[property]: value}, {sync: false})
  }
  function say(name, text, html = false) {
    if (!nodes.has(name)) nodes.set(name, all(`[data-text="${name}"]`))
    const found = nodes.get(name)
    if (!found.length && !page.quiet.includes(name)) shout(`no node shows ${name}`)
    Paint.after(() => {
      for (const node of found)
        if (html) { if (node.told !== text) node.innerHTML = node.told = text }
        else if ('lines' in node.dataset) list(node, text)
        else if (node.textContent !== text) node.textContent = text
    })
  }
  // Lines that begin with the number of a claim: its page of notes is one click away, where there are notes
  const links = document.querySelector('a[data-page=notes]')
  function list(node, text) {
    if (node.told === text) return
    node.told = text
    node.replaceChildren(...text.split('\n').filter(Boolean).map(line => {
      const item = document.createElement('li'), number = document.createElement(links ? 'a' : 'b'), cut = line.indexOf(' ')
      item.dataset.claim = number.textContent = line.slice(0, cut)
      if (links) Object.assign(number, {href: `notes#${item.dataset.claim}`}).setAttribute('data-page', 'notes')
      number.dataset.part = `#${item.dataset.claim}`
      item.append(number, line.slice(cut))
      return item
    }))
  }

  const column = name => model(name.slice(0, name.lastIndexOf('.'))).data[name.slice(name.lastIndexOf('.') + 1)]
  function fill(phrase, parts) {
    return parts.reduce((told, part) => told.replace('{}', () => part), column(phrase)[0])
  }

  // --- positions
  function turn(reel) {
    const i = at[reel.tags[0].axis]
    for (const bind of reel.tags[0].binds) {
      const value = piece(reel, bind, i)
      if (bind.node) say(bind.node, typeof value == 'string' ? value : fill(bind.phrase, value))
      else if (bind.model) setProperty(bind.model, bind.property, value)
      else { const source = model(bind.source); if (source) write(source, bind.to, value, bind) }
    }
  }
  function flush() {
    for (const source of touched) source.change.emit()
    touched.clear()
  }
  // The last stop that differs from the one before it: an example may be shorter than the axis
  const end = axis => Math.min(page.axes[axis].stops.length - 1, ...(reels[axis] ?? []).map(reel => reel.tags[0].end ? column(reel.tags[0].end)[0] : Infinity))
  function show(axis) {
    const last = end(axis), i = Math.min(at[axis], last), {words, numbers} = page.axes[axis]
    for (const input of all(`input[data-axis="${axis}"]`)) {
      if (+input.max != last) input.max = last
      if (+input.value != i) input.value = i
      input.setAttribute('aria-valuetext', words[i])
      input.style.setProperty('--at', `${100 * i / last}%`)
    }
    for (const out of all(`output[data-axis="${axis}"]`)) if (out.textContent != words[i]) out.textContent = words[i]
    for (const place of all(`[data-under="${axis}"]`)) {
      if (place.dataset.column && !documentOfFigures) continue // the server has written it, and columns are on their way
      const number = place.dataset.column ? column(place.dataset.column)[i] : numbers[i]
      if (place.textContent != number) place.textContent = number
    }
  }
  function seek(axis, i) {
    i = at[axis] = Math.max(0, Math.min(page.axes[axis].stops.length - 1, Math.round(i)))
    Paint.together(() => {
      Paint.after(() => show(axis))
      if (documentOfFigures) { for (const reel of reels[axis] ?? []) turn(reel); flush() }
    })
    document.dispatchEvent(new CustomEvent('explorer:seek', {detail: {axis, index: i}}))
  }
  const rest = axis => document.dispatchEvent(new CustomEvent('explorer:rest', {detail: {axis, index: at[axis]}}))
  // After an answer: only reels whose frames, pools, phrases or targets it changed (all, if no names are given)
  function repaint(names = null) {
    const reached = bind => names.has(bind.source) || names.has(bind.pool) || names.has(bind.phrase?.replace(/\.[^.]*$/, ''))
    for (const axis in reels) {
      for (const reel of reels[axis])
        if (!names || names.has(reel.name) || reel.tags[0].binds.some(reached)) turn(reel)
      Paint.after(() => show(axis))
    }
    flush()
  }

  // A file carries its figures as gzip in base64
  const unpacked = async text => {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0))
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json()
  }
  async function load() {
    const inline = document.getElementById('figures')
    const file = inline ? await unpacked(inline.textContent) : await (await fetch(page.figures)).json()
    await Fonts.loaded // an axis is as wide as its labels are when they are measured
    const roots = Object.fromEntries(file.roots.map(([id, name]) => [id, document.querySelector(`[data-figure="${name}"]`)]))
    await Bokeh.embed.embed_items({figures: file.document}, [{docid: 'figures', roots, root_ids: Object.keys(roots)}])
    documentOfFigures = Bokeh.documents.find(d => d.roots().some(r => r.id in roots))
    for (const m of documentOfFigures._all_models.values()) if (m.name) models.set(m.name, m)
    for (const m of models.values())
      for (const axis of m.tags?.[0]?.binds ? new Set([m.tags[0].axis, ...m.tags[0].binds.map(b => b.also).filter(Boolean)]) : [])
        (reels[axis] ??= []).push(m)
    if (theme == 'dark') recolour()
    repaint()
    document.documentElement.dataset.figures = 'ready'
    document.dispatchEvent(new Event('explorer:ready'))
    idle(() => rehearse(REHEARSALS))
  }
  // The first steps and choices would wait until the browser has compiled all that paints, which it does bit by bit
  const REHEARSALS = 4, idle = window.requestIdleCallback ?? setTimeout
  function rehearse(times) {
    if (!times) return void (document.documentElement.dataset.rehearsed = '')
    Paint.together(() => { for (const m of models.values()) if (m.data) touched.add(m); repaint() })
    idle(() => rehearse(times - 1))
  }

  for (const axis in page.axes) seek(axis, page.axes[axis].index)
  const ready = load().catch(error => { shout(`the figures could not be drawn: ${error.message}`); throw error })
  return {figures: () => documentOfFigures, page, at, end, model, models, touched, seek, rest, repaint, say, setProperty, setTheme, ready, shout}
})()
