// What one act changes is painted at once and together, when all glyphs have their new data.  Bokeh would paint every
// figure for itself, in a later frame, and after one frame let another pass.
(() => {
  if (Paint.missing.length) return
  const {PlotView} = Bokeh.require('models/plots/plot_canvas')
  const {GlyphRendererView} = Bokeh.require('models/renderers/glyph_renderer')
  const {RendererView} = Bokeh.require('models/renderers/renderer')
  const idle = window.requestIdleCallback ?? setTimeout, due = new Set(), painted = new Set(), later = []
  let gathering = false, painting = false, under_way = 0, frame = 0

  const {schedule_paint} = PlotView.prototype
  PlotView.prototype.schedule_paint = function() {
    if (!gathering) return schedule_paint.call(this)
    if (!this.is_paused) due.add(this)
  }
  const {update_data} = GlyphRendererView.prototype
  GlyphRendererView.prototype.update_data = async function(changed) {
    const own = gathering ? 1 : 0
    under_way += own
    try { await update_data.call(this, changed) } finally { if (own && --under_way == 0) settle() }
  }

  function settle(anyway = false) {
    if (!gathering || (under_way && !anyway)) return
    gathering = false
    paint()
    for (const work of later.splice(0)) work()
  }
  // No figure twice in one frame: what comes too soon waits for the next
  function next() {
    frame = 0
    painted.clear()
    settle(true)
    if (due.size) paint()
    if (unseen.length) idle(show, {timeout: LONGEST})
  }
  function paint() {
    painting = true
    for (const view of due) if (!painted.has(view)) {
      due.delete(view)
      painted.add(view)
      try { if (!view.is_destroyed) view.repaint() } catch (error) { reportError(error) }
    }
    painting = false
    frame ||= requestAnimationFrame(next)
  }
  // What changes the page: were it done first, a canvas that sets a font would have the browser style the page for it
  Paint.after = work => { if (gathering) later.push(work); else work() }
  // Each part of a figure has an element too, empty, where the part is painted: it follows when nothing else is to do
  const {update_position} = RendererView.prototype, moved = new Set()
  RendererView.prototype.update_position = function() {
    if (!painting) return update_position.call(this)
    if (!moved.size) idle(follow)
    moved.add(this)
  }
  function follow() {
    for (const view of moved) if (!view.is_destroyed) update_position.call(view)
    moved.clear()
  }
  // What need not be in the picture waits, in its order, until that is handed over; not for long, for one may never come
  const LONGEST = 100, unseen = [] // ms
  let late = 0
  function show() {
    clearTimeout(late)
    for (const work of unseen.splice(0)) try { work() } catch (error) { reportError(error) }
  }
  Paint.seen = work => {
    if (!unseen.length) late = setTimeout(show, LONGEST)
    unseen.push(work)
  }
  // Nor may it undo what somebody does meanwhile
  for (const kind of ['pointerdown', 'keydown', 'click', 'change']) addEventListener(kind, () => { if (unseen.length) show() }, true)
  Paint.together = work => {
    gathering = true
    frame ||= requestAnimationFrame(next)
    try { work() } finally { queueMicrotask(() => settle()) }
  }
})()
