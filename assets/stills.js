// Figures as pictures, and what they show as numbers: made in the browser, so that they show what is on the screen.
window.Stills = (() => {
  const X = window.Explorer, page = X.page, root = document.documentElement
  const colour = slot => getComputedStyle(root).getPropertyValue(`--${slot}`).trim(), ground = () => colour('ground')
  const view = name => Bokeh.index.find_one_by_id(X.model(name).id)

  const exported = async name => (await view(name).export('svg').to_blob()).text()
  async function bare(name) {
    return (await exported(name)).replace(/<svg([^>]*)>/, (all, rest) => `<svg${rest}><rect width="100%" height="100%" fill="${ground()}"/>`)
  }
  // --- a picture goes where its page does not: over it stands what it shows, and small the state that it shows
  const SIZES = {headline: [14, 19, '600', 'ink'], caption: [12, 16, '400', 'ink'], state: [10, 14, '400', 'muted']} // px, line, weight, colour
  const MARGIN = 8
  function told(name) {
    const node = document.querySelector(`[data-figure="${name}"]`), read = (from, what) => from?.querySelector(what)?.textContent.trim() ?? ''
    const sweep = node.closest('.sweep'), words = Object.entries(X.told()).filter(([word]) => word != 'theme')
    return {
      headline: sweep ? read(sweep, '.eyebrow') : read(node.closest('.card'), 'h2'),
      caption: read(node.closest('figure'), 'figcaption'),
      state: `${page.title}, ${page.name}${words.length ? `: ${words.map(pair => pair.join(' = ')).join(', ')}` : ''}`,
    }
  }
  const pen = document.createElement('canvas').getContext('2d')
  function lines(text, font, width) {
    pen.font = font
    const rows = []
    for (const word of text.split(/\s+/).filter(Boolean)) {
      const longer = rows.length ? `${rows.at(-1)} ${word}` : word
      if (rows.length && pen.measureText(longer).width <= width) rows[rows.length - 1] = longer; else rows.push(word)
    }
    return rows
  }
  const escaped = text => text.replace(/[&<>]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c])
  async function svg(name) {
    const text = await exported(name), [, width, height] = /<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"/.exec(text).map(Number)
    const family = getComputedStyle(document.body).fontFamily.replaceAll('"', "'"), parts = told(name)
    let y = MARGIN, words = ''
    for (const [part, [px, line, weight, slot]] of Object.entries(SIZES)) for (const row of lines(parts[part], `${weight} ${px}px ${family}`, width - 2 * MARGIN)) {
      y += line
      words += `<text x="${MARGIN}" y="${y - 5}" font-family="${family}" font-size="${px}px" font-weight="${weight}" fill="${colour(slot)}">${escaped(row)}</text>`
    }
    y += MARGIN
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + y}"><rect width="100%" height="100%" fill="${ground()}"/>${words}${text.slice(text.indexOf('<svg')).replace('<svg', `<svg y="${y}"`)}</svg>`
  }
  const drawn = text => new Promise((resolve, reject) => {
    const image = new Image()
    image.onload = () => resolve(image)
    image.onerror = () => reject(new Error('the picture could not be read back'))
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
  })
  async function png(name, times = 2) {
    const text = await svg(name) // a picture knows no font of the page round it
    const image = await drawn(text.replace('<rect', () => `<style>${Fonts.css(text)}</style><rect`)), canvas = document.createElement('canvas')
    canvas.width = image.width * times
    canvas.height = image.height * times
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height)
    return new Promise(resolve => canvas.toBlob(resolve, 'image/png'))
  }

  // --- numbers: each visible glyph's columns, an axis' label as their name and unit
  const plain = value => ArrayBuffer.isView(value) || Array.isArray(value) ? [...value].map(plain) : value
  const fields = glyph => Object.entries(glyph.attributes)
    .filter(([, value]) => value && typeof value == 'object' && typeof value.field == 'string')
    .map(([way, value]) => [way, value.field])
  const unit = label => /\(([^()]*)\)\s*$/.exec(label)?.[1] ?? ''
  function figure(name) {
    const plot = X.model(name), label = axis => axis?.axis_label ?? ''
    const across = label(plot.below[0]), up = label(plot.left[0]), series = []
    for (const renderer of [...plot.renderers, ...plot.center]) {
      if (!renderer.glyph || !renderer.visible || !renderer.data_source.name) continue
      const columns = {}
      for (const [way, field] of fields(renderer.glyph)) {
        const axis = /^(x|left|right|xs|x0|x1)/.test(way) ? across : /^(y|top|bottom|ys|y0|y1)/.test(way) ? up : ''
        if (field in renderer.data_source.data && !/color|alpha|font|marker/.test(way))
          columns[field] = {axis, unit: unit(axis), values: plain(renderer.data_source.data[field])}
      }
      series.push({source: renderer.data_source.name, glyph: renderer.glyph.type, columns})
    }
    return {figure: name, across, up, series}
  }
  const home = page.served ?? (location.protocol == 'file:' ? '' : location.origin + location.pathname)
  const header = () => ({
    program: page.title, version: page.version, view: page.name, state: X.told(),
    says: [...document.querySelectorAll('h2[data-text]')].map(node => node.textContent), made: new Date().toISOString(),
    ...(home ? {link: `${home}?${new URLSearchParams(X.told())}`} : {}),
  })
  const figures = () => [...document.querySelectorAll('[data-figure]')].map(node => node.dataset.figure)
  const numbers = () => ({...header(), figures: figures().map(figure)})
  const cell = value => /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)
  function csv() {
    const {figures: told, ...head} = numbers(), lines = []
    for (const [key, value] of Object.entries(head)) lines.push(`# ${key}: ${typeof value == 'string' ? value : JSON.stringify(value)}`)
    lines.push('figure,source,glyph,column,axis,unit,row,value')
    for (const {figure: name, series} of told) for (const {source, glyph, columns} of series)
      for (const [column, {axis, unit: of, values}] of Object.entries(columns)) values.flat(2).forEach((value, row) => {
        if (value !== null && !Number.isNaN(value)) lines.push([name, source, glyph, column, axis, of, row, value].map(cell).join(','))
      })
    return lines.join('\n') + '\n'
  }
  function save(name, content, type = 'text/plain') {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}))
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }
  return {bare, svg, png, numbers, csv, save, figures}
})()
