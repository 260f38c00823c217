// The shipped fonts.  Made of bytes by the first script of a page, a font is there before anything is laid out or drawn;
// one that a style sheet names comes some frames later, also where it stands in the sheet as data.
window.Fonts = (faces => {
  const bytes = text => Uint8Array.from(atob(text), character => character.charCodeAt(0))
  const made = faces.map(({family, style, weight, data}) => new FontFace(family, bytes(data), {style, weight}))
  for (const face of made) document.fonts.add(face)
  // For a picture that is drawn apart from the page: the fonts whose families its text names
  const css = text => faces.filter(({family}) => text.includes(family)).map(({family, style, weight, data}) =>
    `@font-face{font-family:'${family}';font-style:${style};font-weight:${weight};src:url(data:font/woff2;base64,${data})}`).join('')
  return {css, loaded: Promise.all(made.map(face => face.load()))}
})
