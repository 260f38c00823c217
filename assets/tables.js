// Panel knows tables by a part of BokehJS that is a tenth of all that a page fetches, and no page has one: this stands
// in its place.  Panel only names the class of a column, as the type of a property that is never set.
Bokeh.register_plugin({ "no-tables": (_require, _module, exports) => { exports.TableColumn = class {} } }, "no-tables",
  { "models/widgets/tables": "no-tables" })
