// Choices of a page that was saved as a file: every answer they lead to lies in the file.
(() => {
  const X = window.Explorer, {live, defaults} = X.page, all = s => [...document.querySelectorAll(s)]
  const now = {...live.now}, shown = {}
  function answer() {
    const key = live.words.map(word => now[word]).join('|'), wanted = live.table[key]
    const news = Object.entries(wanted ?? {}).filter(([name, source]) => shown[name] != source)
    for (const [name, source] of news) shown[name] = source
    X.take(news.map(([name, source]) => [name, X.model(source).data]))
    for (const word of live.words) {
      if (now[word] == defaults[word]) delete X.server[word]; else X.server[word] = now[word]
      for (const button of all(`button[data-choice="${word}"]`))
        button.setAttribute('aria-pressed', button.dataset.value == now[word])
      for (const select of all(`select[data-choice="${word}"]`)) select.value = now[word]
      const why = live.idle[key]?.[word]
      for (const control of all(`[data-choice="${word}"]`)) control.disabled = Boolean(why)
      for (const place of all(`[data-control="${word}"]`)) place.title = why ?? ''
    }
    X.chosen()
  }
  X.choose = up => {
    const refused = []
    for (const [word, text] of Object.entries(up)) {
      const value = text ?? defaults[word]
      if (!live.words.includes(word)) {
        if (value !== (X.server[word] ?? defaults[word])) refused.push(`${word} is fixed in this file`)
      } else if (live.options[word].includes(value)) now[word] = value
      else refused.push(`${word} = ${String(value).slice(0, 40)} is not among the choices of this file`)
    }
    X.ready.then(answer)
    return refused
  }
  for (const button of all('button[data-choice]'))
    button.addEventListener('click', () => X.choose({[button.dataset.choice]: button.dataset.value}))
  for (const select of all('select[data-choice]'))
    select.addEventListener('change', () => X.choose({[select.dataset.choice]: select.value}))
  X.ready.then(() => { answer(); document.documentElement.dataset.session = 'file' })
})()
