// A frame of a reel moves a few glyphs.  Bokeh then measures the axes again, reads the style of every part and paints
// all of it; here what stands still is kept as a bitmap, and a style is read once.  What is on the screen is the same.
(() => {
  // Bokeh has promised nothing of what is replaced here and in together.js: if a part is missing, it paints by itself
  const NEEDED = [
    ['core/dom', 'InlineStyleSheet', '_update'],
    ['core/util/canvas', 'CanvasLayer', 'clear', 'undo_transform'],
    ['models/glyphs/glyph', 'GlyphView', 'index', 'index_data', 'mask_data', 'data_size'],
    ['core/visuals/visual', 'VisualProperties', '_get_css_value'],
    ['models/plots/plot_canvas', 'PlotView', 'repaint', 'schedule_paint', 'is_paused', 'computed_renderer_views',
      '_invalidate_layout_if_needed', '_paint_primary', '_paint_empty', '_paint_outline'],
    ['models/renderers/glyph_renderer', 'GlyphRendererView', 'set_data', 'set_visuals', 'map_data', 'update_data',
      '_update_masked_indices'],
    ['models/renderers/renderer', 'RendererView', 'update_position'],
  ]
  const missing = NEEDED.flatMap(([path, kind, ...names]) => {
    let parts = {}
    try { parts = Bokeh.require(path)[kind].prototype } catch { /* all of its names are missing */ }
    return names.filter(name => !(name in parts)).map(name => `${kind}.${name}`)
  })
  window.Paint = {missing, forget() {}, after: work => work(), seen: work => setTimeout(work), together: work => work()}
  if (missing.length) return console.info(`Bokeh has no ${missing.join(', ')}: it paints by itself`)

  const {InlineStyleSheet} = Bokeh.require('core/dom')
  const {VisualProperties} = Bokeh.require('core/visuals/visual')
  const {CanvasLayer} = Bokeh.require('core/util/canvas')
  const {PlotView} = Bokeh.require('models/plots/plot_canvas')
  const {GlyphRendererView} = Bokeh.require('models/renderers/glyph_renderer')
  const {GlyphView} = Bokeh.require('models/glyphs/glyph')

  // A sheet written anew has the browser restyle what is under it, though nearly always it says what it said
  const update = InlineStyleSheet.prototype._update
  InlineStyleSheet.prototype._update = function(css) { if (css !== this.el.textContent) update.call(this, css) }

  // Bokeh clears half a pixel beside the canvas, for it paints there: what a painting before the layout left in the first
  // column and row would stay
  const {clear} = CanvasLayer.prototype
  CanvasLayer.prototype.clear = function() {
    if (this.canvas instanceof HTMLCanvasElement) this.undo_transform(ctx => ctx.clearRect(0, 0, this.canvas.width, this.canvas.height))
    else clear.call(this)
  }

  // Values that come from the page's style hold until the theme or the window's size changes
  let age = 0
  const forget = () => { age++ }
  window.addEventListener('resize', forget)
  const read = VisualProperties.prototype._get_css_value
  VisualProperties.prototype._get_css_value = function(name) {
    if (!this.obj.el.isConnected) return read.call(this, name)
    if (this._age !== age) { this._age = age; this._told = new Map() }
    if (!this._told.has(name)) this._told.set(name, read.call(this, name))
    return this._told.get(name)
  }

  // Every glyph has four understudies, for what is selected, beside it, muted, or many; here none of them ever goes on
  const {set_data, set_visuals, map_data} = GlyphRendererView.prototype
  const alone = view => !view.hover_glyph && !view.model.muted && view.model.data_source.selected.is_empty()
    && view.model.view.indices.count <= view.plot_view.model.lod_threshold
  const follows = ({x_ranges, y_ranges}) => [...x_ranges.values(), ...y_ranges.values()].some(range => range.type == 'DataRange1d')
  GlyphRendererView.prototype.set_data = async function(changed) {
    if (!alone(this)) return set_data.call(this, changed)
    this.all_indices = this.model.view.indices
    await this.glyph.set_data(this.model.data_source, this.all_indices, changed)
    await this.set_visuals()
    this._update_masked_indices()
    if (follows(this.plot_view.frame)) this.plot_view.invalidate_dataranges = true
  }
  GlyphRendererView.prototype.set_visuals = async function() {
    if (!alone(this)) return set_visuals.call(this)
    this.glyph.set_visuals(this.model.data_source, this.all_indices)
    this.glyph.after_visuals()
    await this.glyph.after_lazy_visuals()
  }
  GlyphRendererView.prototype.map_data = function() {
    if (alone(this)) this.glyph.map_data(); else map_data.call(this)
  }

  // What lies beyond the frame is cut off there: it need not be looked up twice a painting, nor all be put into an index
  // before somebody points at it
  const CLIPPED = ['image', 'underlay', 'glyph']
  const {_update_masked_indices} = GlyphRendererView.prototype, {index_data, mask_data} = GlyphView.prototype
  GlyphRendererView.prototype._update_masked_indices = function() {
    if (!alone(this) || !CLIPPED.includes(this.model.level)) return _update_masked_indices.call(this)
    return this.model.view.masked = mask_data.call({data_size: this.glyph.data_size}) // as of a glyph that masks nothing
  }
  GlyphView.prototype.index_data = function() { this._index = null }
  Object.defineProperty(GlyphView.prototype, 'index', {get() { if (!this._index) index_data.call(this); return this._index }})

  // --- only glyphs and marks have changed: no axis has, so the layout stands
  const {repaint, _invalidate_layout_if_needed} = PlotView.prototype
  const inFrame = view => !view.panel
  PlotView.prototype.repaint = function() {
    const moved = this._invalidated_painters
    this._moved = !this._invalidate_all && !this._needs_layout && [...moved].every(inFrame) ? new Set(moved) : null
    try { repaint.call(this) } finally { this._moved = null }
  }
  PlotView.prototype._invalidate_layout_if_needed = function() {
    if (!this._moved) _invalidate_layout_if_needed.call(this)
  }

  // --- axes first, so that what stands still comes before what moves; up to the first that moved it is a bitmap
  const LEVELS = ['guide', 'image', 'underlay', 'glyph', 'annotation']
  function paint(plot, ctx, painters) {
    for (const view of painters) {
      ctx.save()
      if (CLIPPED.includes(view.model.level) || view.needs_clip) {
        ctx.beginPath()
        ctx.rect(...plot.frame.bbox.args)
        ctx.clip()
      }
      view.paint(ctx)
      ctx.restore()
    }
  }
  PlotView.prototype._paint_primary = function(ctx) {
    const painters = LEVELS.flatMap(level => this.computed_renderer_views.filter(view => view.model.level == level))
    const {primary} = this.canvas_view, moved = this._moved
    const still = moved && ctx === primary.ctx ? painters.findIndex(view => moved.has(view)) : 0
    const ground = () => { this._paint_empty(ctx, this.frame.bbox); this._paint_outline(ctx, this.frame.bbox) }
    if (still <= 0) {
      if (!moved) this._kept = null
      ground()
      return paint(this, ctx, painters)
    }
    if (this._kept?.still == still && this._kept.age == age)
      primary.undo_transform(ctx => ctx.drawImage(this._kept.canvas, 0, 0))
    else {
      ground()
      paint(this, ctx, painters.slice(0, still))
      const canvas = this._kept?.canvas ?? document.createElement('canvas')
      canvas.width = primary.canvas.width
      canvas.height = primary.canvas.height
      canvas.getContext('2d').drawImage(primary.canvas, 0, 0)
      this._kept = {still, canvas, age}
    }
    paint(this, ctx, painters.slice(still))
  }

  Paint.forget = forget
})()
