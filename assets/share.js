// What to do with a state: link, embed, save, cite it; keep it as A beside the live B; present it.
(() => {
  const X = window.Explorer, page = X.page, S = window.Stills, root = document.documentElement
  const one = (s, from = document) => from.querySelector(s), all = (s, from = document) => [...from.querySelectorAll(s)]
  const box = one('dialog.share')
  if (!box) return
  const form = one('form', box)

  const whole = text => Math.max(1, Math.round(+text) || 1)
  // --- the link builder: the state as it is now, in somebody else's page
  const escaped = text => text.replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c])
  function address(framed) {
    const told = {...X.told(), ...page.kept}, put = (word, value) => { if (value) told[word] = value; else delete told[word] }
    put('theme', form.theme.value == 'dark' && 'dark')
    if (framed) {
      told.embed = '1'
      put('hide', all('[name=hide]:checked', form).map(part => part.value).join(','))
      put('reveal', form.reveal.checked && 'locked')
      put('host', form.host.value.trim().replace(/\/+$/, ''))
    } else for (const word of ['embed', 'hide', 'reveal', 'host']) delete told[word]
    const query = new URLSearchParams(told).toString().replaceAll('%7E', '~').replaceAll('%2C', ',')
    return new URL(form.view.value, page.served ?? location.href.replace(/[?#].*/, '')).href + (query ? `?${query}` : '')
  }
  // A view that is higher than its room is drawn at its own size and scaled, in a box of the size wanted
  let scale = 1
  function scaling() {
    const [width, height] = [form.width, form.height].map(field => whole(field.value))
    const [inner_width, inner_height] = [width, height].map(px => Math.round(px / scale))
    if (scale == 1) return {inner_width, inner_height, scaled: '', box: '', box_end: ''}
    return {
      inner_width, inner_height, scaled: `;transform:scale(${scale});transform-origin:0 0`,
      box: `<div style="width:${width}px;height:${height}px;overflow:hidden">`, box_end: '</div>',
    }
  }
  function build() {
    const title = `${form.view.selectedOptions[0].text} · ${page.title}`
    for (const [word, [text, framed]] of Object.entries(page.snippets)) {
      const url = address(framed), gaps = {
        url, title, url_html: escaped(url), title_html: escaped(title), url_py: JSON.stringify(url),
        width: form.width.value, height: form.height.value, ...scaling(),
      }
      one(`[data-snippet="${word}"]`, box).textContent = text.replace(/\{(\w+)\}/g, (gap, name) => gaps[name] ?? gap)
    }
  }
  // --- how tall the view is at that width and without those parts: measured in an unseen frame of the page itself
  let probe = null, asked = '', free = false // free: the height follows what is measured
  const fits = one('.fits', form)
  function measure() {
    if (!box.open || page.served || location.protocol == 'file:') return // a file is its own link
    const told = new URL(address(true))
    for (const word of ['hide', 'host', 'reveal', 'theme']) told.searchParams.delete(word)
    if (asked != told.href) {
      asked = told.href
      probe?.remove()
      probe = Object.assign(document.createElement('iframe'), {className: 'probe', tabIndex: -1, src: asked})
      probe.setAttribute('aria-hidden', 'true')
      fits.textContent = 'measuring …'
      box.append(probe)
    }
    probe.style.width = `${whole(form.width.value)}px`
    probe.style.height = `${whole(form.height.value)}px`
    const frame = probe
    const look = () => {
      if (frame != probe) return
      const there = frame.contentWindow?.Explorer, page = frame.contentDocument?.documentElement
      if (!there?.own || page.dataset.figures != 'ready' || 'pending' in page.dataset) return void setTimeout(look, 60)
      page.dataset.hide = all('[name=hide]:checked', form).map(part => part.value).join(' ')
      judge(there.own(), there)
    }
    look()
  }
  function judge(own, there) {
    if (free && +form.height.value != own) form.height.value = own
    const [width, height] = [form.width, form.height].map(field => whole(field.value))
    let low = 0.3, high = 1
    if (own <= height) low = 1
    else for (let k = 0; k < 8; k++) {
      const middle = (low + high) / 2
      probe.style.width = `${Math.round(width / middle)}px`
      if (there.own() <= Math.floor(height / middle)) low = middle; else high = middle
    }
    scale = Math.floor(low * 1000) / 1000
    build()
    fits.textContent = `Its own height at this width is ${own} px` + (scale == 1 ? '; nothing is cut.'
      : `: HTML, reveal.js and Quarto scale it to ${Math.round(100 * scale)} %, and nothing is cut.`)
  }
  function sized() {
    const [width, height] = form.size.value.split('x')
    form.width.value = width
    free = !height
    if (height) form.height.value = height
  }
  form.size.addEventListener('change', sized)
  form.height.addEventListener('input', () => { free = false })
  one('[data-figure-only]', form).addEventListener('click', () => {
    for (const part of all('[name=hide]', form)) part.checked = true
    build()
    measure()
  })
  box.addEventListener('close', () => { probe?.remove(); probe = null; asked = '' })
  form.addEventListener('input', build)
  form.addEventListener('change', () => { build(); measure() })
  form.addEventListener('submit', event => event.preventDefault())

  const ask = () => X.write?.({plain: one('[data-plain]', box)?.checked ?? false})
  for (const button of all('[data-share]')) button.addEventListener('click', () => {
    form.theme.value = root.dataset.theme
    build()
    ask()
    box.showModal()
    measure()
  })
  one('[data-close]', box).addEventListener('click', () => box.close())
  box.addEventListener('click', event => { if (event.target == box) box.close() })
  one('[data-plain]', box)?.addEventListener('change', ask)
  for (const tab of all('[data-tab]', box)) tab.addEventListener('click', () => {
    for (const other of all('[data-tab]', box)) other.setAttribute('aria-selected', other == tab)
    for (const panel of all('[data-panel]', box)) panel.hidden = panel.dataset.panel != tab.dataset.tab
  })
  for (const button of all('[data-copy]', box)) button.addEventListener('click', async () => {
    const shown = one(`[data-snippet="${button.dataset.copy}"]`, box)
    try { await navigator.clipboard.writeText(shown.textContent); button.textContent = 'copied' }
    catch { getSelection().selectAllChildren(shown); button.textContent = 'press Ctrl-C' }
    setTimeout(() => { button.textContent = 'copy' }, 1600)
  })
  // The server makes the file; until it is there the button waits
  const saving = text => X.say('page.saving', text)
  for (const button of all('[data-save]', box)) button.addEventListener('click', () => {
    button.disabled = true
    saving('a few seconds …')
    X.save()
  })
  document.addEventListener('explorer:saved', ({detail}) => {
    for (const button of all('[data-save]', box)) button.disabled = false
    const link = document.createElement('a')
    link.href = detail
    link.download = `${page.name}.html`
    link.click()
    saving('made')
  })
  document.addEventListener('explorer:refused', ({detail}) => {
    for (const button of all('[data-save]', box)) { if (button.disabled) saving(detail.join(' ')); button.disabled = false }
  })
  for (const button of all('[data-still]', box)) button.addEventListener('click', async () => {
    const {still, of} = button.dataset
    S.save(`${of}.${still}`, still == 'svg' ? new Blob([await S.svg(of)], {type: 'image/svg+xml'}) : await S.png(of))
  })
  for (const button of all('[data-table]', box)) button.addEventListener('click', () => {
    const csv = button.dataset.table == 'csv'
    S.save(`${page.name}.${button.dataset.table}`, csv ? S.csv() : JSON.stringify(S.numbers(), null, 1), csv ? 'text/csv' : 'application/json')
  })

  // --- A beside B
  let kept = null
  const say = (words, word) => {
    const axis = page.axes[word]
    return axis ? axis.words[axis.stops.indexOf(+(words[word] ?? axis.start))] : words[word] ?? (page.defaults[word] || 'none')
  }
  function compare() {
    if (!kept) return
    const now = X.told(), moved = [...new Set([...Object.keys(kept), ...Object.keys(now)])].filter(w => w != 'theme' && kept[w] !== now[w])
    one('.differs').textContent = moved.length
      ? `From A to B: ${moved.map(w => `${page.axes[w]?.label ?? page.labels[w]}, ${say(kept, w)} → ${say(now, w)}`).join('; ')}.`
      : 'B is still the same as A: move a slider or choose something else.'
  }
  const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 120)))
  async function keep() {
    root.setAttribute('data-compare', '')
    await painted() // the live figures take their new width first: A is as wide as B
    const card = one('main .card'), still = card.cloneNode(true)
    still.classList.add('kept')
    const pictures = await Promise.all(all('[data-figure]', card).map(node => S.bare(node.dataset.figure)))
    all('[data-figure]', still).forEach((node, k) => {
      const image = new Image()
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(pictures[k])}`
      image.alt = one('h2', card).textContent
      node.replaceChildren(image)
      delete node.dataset.figure
    })
    // What can be moved is B's alone; A keeps its room, so that the figures lie side by side.
    const live = all('.asks, .rail, .rail + output', card)
    all('.asks, .rail', still).forEach((node, k) => { node.style.height = `${live[k].offsetHeight}px`; node.replaceChildren() })
    for (const node of all('[data-text], [id], [data-view]', still)) for (const name of ['data-text', 'id', 'data-view']) node.removeAttribute(name)
    for (const link of all('a.carry', still)) link.removeAttribute('data-page') // it leads where A's number leads
    still.removeAttribute('data-view')
    const told = document.createElement('p')
    told.className = 'differs'
    told.setAttribute('role', 'status')
    one('main').prepend(told, still)
    kept = X.told()
    compare()
  }
  function release() {
    kept = null
    one('.card.kept').remove()
    one('.differs').remove()
    root.removeAttribute('data-compare')
  }
  for (const button of all('[data-snapshot]')) button.addEventListener('click', async () => {
    button.disabled = true // a second click would keep a second A
    kept ? release() : await keep()
    button.disabled = false
    button.textContent = kept ? 'Let go of A' : 'Keep as A'
  })
  for (const kind of ['explorer:seek', 'explorer:chosen']) document.addEventListener(kind, compare)

  // --- on a projector
  const LARGER = 1.25
  // Type, points and heights of all figures times a factor: what CSS cannot reach inside a canvas
  function enlarge(by) {
    const bigger = value => typeof value == 'string' ? value.replace(/^([\d.]+)px/, (_, n) => `${Math.round(n * by * 100) / 100}px`) : typeof value == 'number' ? value * by : value
    for (const m of X.figures()?._all_models.values() ?? []) {
      for (const prop of m) {
        if (!/text_font_size$|^min_border_(left|right)$|^[xy]_offset$/.test(prop.attr)) continue
        const old = prop.get_value(), now = old?.value ? {...old, value: bigger(old.value)} : bigger(old)
        if (now !== old) m.setv({[prop.attr]: now}, {sync: false})
      }
    }
    for (const figure of X.figures()?.roots() ?? []) {
      const height = Math.round(figure.height * by)
      figure.setv({height}, {sync: false})
      const home = document.querySelector(`[data-figure="${figure.name}"]`)
      if (home) home.style.height = `${height}px`
    }
  }
  function present(on) {
    if (on == root.hasAttribute('data-present')) return
    root.toggleAttribute('data-present', on)
    enlarge(on ? LARGER : 1 / LARGER)
  }
  for (const button of all('[data-present]')) if (button != root) button.addEventListener('click', async () => {
    const on = !root.hasAttribute('data-present')
    present(on)
    try { await (on ? root.requestFullscreen() : document.exitFullscreen()) } catch { /* larger type all the same */ }
  })
  document.addEventListener('fullscreenchange', () => { if (!document.fullscreenElement) present(false) })
  document.addEventListener('keydown', event => {
    if (/INPUT|TEXTAREA|SELECT/.test(event.target.tagName) && event.target.type != 'range') return
    if (event.key == 'R' && event.shiftKey) X.reveal()
  })
})()
