// Figures as pictures, and what they show as numbers: made in the browser, so that they show what is on the screen.
window.Stills = (() => {
  const X = window.Explorer, page = X.page, root = document.documentElement
  const ground = () => getComputedStyle(root).getPropertyValue('--ground').trim()
  const view = name => Bokeh.index.find_one_by_id(X.model(name).id)

  async function svg(name) {
    const text = await (await view(name).export('svg').to_blob()).text()
    return text.replace(/<svg([^>]*)>/, (all, rest) => `<svg${rest}><rect width="100%" height="100%" fill="${ground()}"/>`)
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
    for (const renderer of plot.renderers) {
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
  return {svg, png, numbers, csv, save, figures}
})()
