// Steps of the slides drive the framed pages by messages; docs/embedding.md lists them all.
// A step is an element of class `fragment` with data-send: the message it stands for.

// Where the explorer is served, such as 'https://explorer.example.org/'.  Empty: the files of views/, without a server.
const EXPLORER = ''
const FRAMED = 'embed=1&hide=side,controls,below&reveal=locked'

const frames = [...document.querySelectorAll('iframe[data-page]')]
const file = !EXPLORER && location.protocol == 'file:' // pages opened as files have no origin to speak of
const theirs = EXPLORER ? new URL(EXPLORER).origin : file ? 'null' : location.origin
const address = page => EXPLORER ? `${EXPLORER}${page}?${FRAMED}&host=${encodeURIComponent(location.origin)}` : `views/${page}.html`
for (const frame of frames) frame.dataset.src = address(frame.dataset.page)

const frameOf = node => node.closest('section').querySelector('iframe[data-page]')
const tell = (frame, told) => frame.contentWindow?.postMessage(told, file ? '*' : theirs)
const send = step => { if (step.dataset.send) tell(frameOf(step), JSON.parse(step.dataset.send)) }

// A slide's state is where it starts and all steps shown so far: so going back is going there anew.
function replay(frame) {
  tell(frame, {explorer: 'reset'})
  if (frame.dataset.start) tell(frame, {explorer: 'set', words: JSON.parse(frame.dataset.start)})
  frame.closest('section').querySelectorAll('.fragment.visible').forEach(send)
}

window.addEventListener('message', ({source, origin, data}) => {
  const frame = frames.find(frame => frame.contentWindow === source)
  if (!frame || origin !== theirs || typeof data?.explorer != 'string') return
  if (data.explorer == 'ready') replay(frame)
  if (data.explorer == 'state') frame.closest('section').querySelector('.state').textContent =
    Object.entries(data.words).map(([word, text]) => `${word} = ${text}`).join(', ')
  if (data.explorer == 'refused') console.warn(`${frame.dataset.page}: ${data.sentences.join(' ')}`)
})

Reveal.on('fragmentshown', ({fragments}) => fragments.forEach(send))
Reveal.on('fragmenthidden', ({fragment}) => replay(frameOf(fragment)))
Reveal.on('slidechanged', ({previousSlide}) => {
  const left = previousSlide?.querySelector('iframe[data-page]')
  if (left) tell(left, {explorer: 'pause'})
})
// reveal.js would else take orders from whatever is framed
Reveal.initialize({width: 1320, height: 800, margin: 0.02, center: false, hash: true, display: 'flex', transition: 'none', postMessage: false})
