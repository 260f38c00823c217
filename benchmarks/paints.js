// When which figure was painted.  A frame is every draw between two frames of the browser; its time is
// that of the first task after the frame was handed over.
(() => {
  const L = window.Paints = {frames: [], events: [], shifts: 0, moved: [], first: null, last: 0}
  const raf = window.requestAnimationFrame.bind(window)
  let inside = 0, frame = null
  window.requestAnimationFrame = callback => raf(now => { inside++; try { callback(now) } finally { inside-- } })
  const afterwards = done => {
    const channel = new MessageChannel()
    channel.port1.onmessage = done
    channel.port2.postMessage(0)
  }
  const figures = new WeakMap()
  function figure(canvas) {
    if (figures.has(canvas)) return figures.get(canvas)
    let node = canvas
    while (node && !node.dataset?.figure) node = node.parentNode ?? node.host
    if (node) figures.set(canvas, node.dataset.figure)
    return node?.dataset.figure
  }
  let latest = null // a figure draws hundreds of times in a row: to notice it once costs the frame least
  function drawn(canvas) {
    if (canvas === latest && frame) return
    const name = canvas && figure(canvas)
    if (!name) return  // a scratch canvas
    latest = canvas
    if (!frame) {
      const mine = frame = {at: 0, figures: new Set()}
      const close = () => afterwards(() => {
        frame = null
        L.last = performance.now()
        L.first ??= L.last
        L.frames.push({at: L.last, figures: [...mine.figures]})
      })
      inside ? close() : raf(close)
    }
    frame.figures.add(name)
  }
  for (const name of ['fillRect', 'stroke', 'fill', 'drawImage', 'putImageData', 'clearRect', 'fillText']) {
    const draw = CanvasRenderingContext2D.prototype[name]
    CanvasRenderingContext2D.prototype[name] = function() { drawn(this.canvas); return draw.apply(this, arguments) }
  }
  for (const kind of ['keydown', 'pointerup', 'input', 'pointermove'])
    window.addEventListener(kind, event => L.events.push({kind, at: event.timeStamp}), true)
  const named = node => node?.dataset?.figure ?? node?.dataset?.text ?? (node?.id || node?.className || node?.nodeName)
  new PerformanceObserver(list => {
    for (const e of list.getEntries()) if (!e.hadRecentInput) {
      L.shifts += e.value
      L.moved.push(...e.sources.map(source => named(source.node)))
    }
  }).observe({type: 'layout-shift', buffered: true})

  L.clear = () => { L.frames.length = L.events.length = 0; L.last = 0 }
  const acts = () => Math.max(0, ...L.events.filter(e => e.kind == 'keydown' || e.kind == 'pointerup').map(e => e.at))
  // Wait until something was painted after the last act and nothing more for `quiet` ms, at most `most` ms in all.
  L.rest = (quiet, most) => new Promise(resolve => {
    const start = performance.now()
    const look = () => {
      const now = performance.now(), painted = L.last > acts() && !frame
      if (now - start > most || (painted && now - Math.max(L.last, start) > quiet)) resolve({frames: L.frames, events: L.events})
      else setTimeout(look, 8)
    }
    look()
  })
})()
