// The notes: filters and text search over rows that are all in the page.  Works without a server.
(() => {
  const all = (selector, part = document) => [...part.querySelectorAll(selector)], root = document.documentElement
  const form = document.querySelector('.filters'), rows = all('tbody tr'), none = document.querySelector('.none')
  const plain = text => text.toLowerCase().normalize('NFKD').replaceAll('\u2212', '-').replaceAll(',', '')
  const texts = new Map(rows.map(row => [row, plain(row.textContent)]))
  const kinds = {
    topic: (row, word) => row.dataset.topic == word, page: (row, word) => row.dataset.pageOf == word,
    outcome: (row, word) => row.dataset.outcome == word, lessons: (row, word) => row.dataset.lessons.split(' ').includes(word),
  }

  function show() {
    const wanted = plain(form.text.value).split(/\s+/).filter(Boolean)
    const chosen = Object.keys(kinds).filter(name => form.elements[name].value)
    for (const row of rows)
      row.hidden = !(wanted.every(word => texts.get(row).includes(word)) && chosen.every(name => kinds[name](row, form.elements[name].value)))
    for (const section of all('[data-section]')) section.hidden = !section.querySelector('tbody tr:not([hidden])')
    const count = rows.filter(row => !row.hidden).length
    form.shown.value = count == rows.length ? `${count} claims` : `${count} of ${rows.length} claims`
    none.hidden = count > 0
  }

  // --- the address: #C118 shows one claim, whatever is filtered; #of-memory those of a view
  function arrive() {
    const part = decodeURIComponent(location.hash.slice(1)), view = part.startsWith('of-') ? part.slice(3) : null
    if (view && all('option', form.page).some(option => option.value == view)) { form.reset(); form.page.value = view; show() }
    const row = rows.find(row => row.id == part)
    if (row?.hidden) { form.reset(); show() }
    if (!row) return
    row.tabIndex = -1
    row.focus({preventScroll: true})
    row.scrollIntoView()
  }

  // --- the theme, carried to wherever a link leads; a view's state is carried on to the other views
  function link() {
    const here = new URLSearchParams(location.search), dark = root.dataset.theme == 'dark'
    if (dark) here.set('theme', 'dark'); else here.delete('theme')
    const query = here.toString().replaceAll('%7E', '~')
    history.replaceState(null, '', location.pathname + (query ? `?${query}` : '') + location.hash)
    for (const a of all('a[data-page]')) a.href = a.dataset.page + (query ? `?${query}` : '')
    for (const a of all('a[data-see]')) {
      a.dataset.see ||= a.getAttribute('href')
      const [state, part] = a.dataset.see.split('#')
      a.href = `${state}${dark ? (state.includes('?') ? '&' : '?') + 'theme=dark' : ''}#${part}`
    }
  }
  for (const button of all('[data-theme-switch]')) button.addEventListener('click', () => {
    root.dataset.theme = root.dataset.theme == 'dark' ? 'light' : 'dark'
    link()
  })

  form.addEventListener('input', show)
  form.addEventListener('submit', event => event.preventDefault())
  form.addEventListener('reset', () => setTimeout(show))
  window.addEventListener('hashchange', arrive)
  link()
  show()
  arrive()
})()
