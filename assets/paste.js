// A config.json from the clipboard or a file, wherever a page has a model: the server reads it and says what it found.
(() => {
  const X = window.Explorer, root = document.documentElement, all = s => [...document.querySelectorAll(s)]
  if (!document.querySelector('[data-paste-file]')) return
  const longest = X.page.longest
  const box = document.querySelector('[data-paste]'), go = document.querySelector('[data-paste-go]')
  let sent = null // the text that the sentence on the page is about

  function said(text, taken) {
    X.say('page.paste', text)
    root.dataset.pasted = !text ? '' : taken ? 'taken' : 'refused'
    for (const button of all('[data-paste-clear]')) button.hidden = !taken && !X.server.own
    state()
  }
  // The button is of use while the box holds something that was not read yet
  function state() {
    if (!go) return
    go.disabled = box.value === '' || box.value === sent
    go.textContent = !go.disabled || !sent ? 'size my model' : root.dataset.pasted == 'taken' ? 'sized, as shown' : 'not sized'
  }
  function paste(text) {
    if (box) box.value = text
    sent = text
    if (text.length > longest.characters) said(longest.says, false)
    else { X.paste(text); state() }
  }
  const read = async file => { if (file) paste(await file.slice(0, longest.characters + 1).text()) }

  document.addEventListener('explorer:pasted', ({detail}) => {
    if (!detail.text) sent = null
    said(detail.text, detail.taken)
  })
  document.addEventListener('explorer:chosen', () => {
    for (const button of all('[data-paste-clear]')) button.hidden = root.dataset.pasted != 'taken' && !X.server.own
  })
  for (const button of all('[data-paste-clear]')) button.addEventListener('click', () => {
    if (box) box.value = ''
    sent = null
    said('', false)
    X.unpaste()
  })
  for (const input of all('[data-paste-file]')) input.addEventListener('change', async () => { await read(input.files[0]); input.value = '' })
  box?.addEventListener('input', state)
  go?.addEventListener('click', () => paste(box.value))

  // --- anywhere on the page, unless it is meant for a field of its own
  const elsewhere = event => document.querySelector('dialog[open]') ||
    event.composedPath().some(node => node !== box && node.matches?.('input:not([type=range]), textarea, select'))
  document.addEventListener('paste', event => {
    const file = event.clipboardData.files[0], text = event.clipboardData.getData('text/plain')
    if (elsewhere(event) || !(file || text.trim())) return
    if (event.target == box && box.value && !file) return void setTimeout(state) // a part of what is being written
    event.preventDefault()
    file ? read(file) : paste(text)
  })
  const carries = event => [...event.dataTransfer.types].some(type => type == 'Files' || (type == 'text/plain' && event.target == box))
  document.addEventListener('dragover', event => {
    if (!carries(event)) return
    event.preventDefault()
    root.setAttribute('data-dropping', '')
  })
  document.addEventListener('dragleave', event => { if (!event.relatedTarget) root.removeAttribute('data-dropping') })
  document.addEventListener('drop', event => {
    root.removeAttribute('data-dropping')
    if (!carries(event)) return
    event.preventDefault()
    const file = event.dataTransfer.files[0]
    file ? read(file) : paste(event.dataTransfer.getData('text/plain'))
  })
  state()
})()
