// Parts of the calibration chapter: a file of the reader's, and a player that other parts can follow.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki

  // The file is read here and sent as text; the server judges it. One that is too large is refused at once.
  wiki.parts.upload = (root, data, memory, first) => {
    const w = data.words
    if (first) {
      memory.fold = el('details', { class: 'wiki-fold', open: data.open })
      memory.input = el('input', { type: 'file', accept: '.npz,.safetensors' })
      memory.note = el('p', { class: 'wiki-error', role: 'alert' })
      memory.state = el('p', { class: 'wiki-help', role: 'status' })
      memory.remove = el('button', { type: 'button', class: 'wiki-again' })
    }
    memory.input.setAttribute('aria-label', w.choose)
    memory.remove.textContent = w.remove
    memory.remove.hidden = !data.own
    memory.remove.onclick = () => memory.trigger('file', { remove: true })
    memory.note.innerHTML = data.problem
    memory.state.innerHTML = data.own ? `<b>${data.own}</b>` : ''
    memory.input.disabled = false
    memory.input.value = ''
    memory.input.onchange = () => {
      const [file] = memory.input.files
      if (!file) return
      memory.note.innerHTML = ''
      if (file.size > data.most) { memory.note.innerHTML = data.too_large; memory.input.value = ''; return }
      memory.input.disabled = true
      memory.state.textContent = w.working
      const reader = new FileReader()
      reader.onload = () => memory.trigger('file', { name: file.name, data: String(reader.result).split(',')[1] ?? '' })
      reader.readAsDataURL(file)
    }
    memory.fold.replaceChildren(el('summary', {}, data.title), el('p', { class: 'wiki-help', html: data.help }),
      el('div', { class: 'wiki-upload' }, memory.input, memory.remove), memory.note, memory.state)
    if (!memory.fold.isConnected) root.replaceChildren(memory.fold)
    root.dataset.tries = data.tries
    root.dataset.own = data.own
  }

  // The step player; `data.steps` names the bus topic that carries variant · length + step, so that tables can follow.
  wiki.parts.stepper = (root, data, memory, first) => {
    memory.seen?.disconnect()
    const tell = () => {
      const variant = Math.min(wiki.bus.get(data.topic) ?? 0, data.variants.length - 1)
      wiki.bus.set(data.steps, variant * data.variants[0].length + Number(root.dataset.step))
    }
    wiki.parts.player(root, data, memory, first)
    memory.seen = new MutationObserver(tell)
    memory.seen.observe(root, { attributes: true, attributeFilter: ['data-step'] })
    memory.off.push(() => memory.seen.disconnect(), wiki.bus.on(data.topic, tell))
    tell()
  }
})()
