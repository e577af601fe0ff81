// Sliders and choices: they move at once in the browser and tell the server when the hand lets go.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki
  let ids = 0

  wiki.parts.range = (root, data, memory, first) => {
    if (first) {
      const id = `wiki-range-${ids++}`
      memory.input = el('input', { id, type: 'range', min: 0, step: 1 })
      memory.output = el('output', { for: id })
      memory.label = el('label', { for: id })
      memory.help = el('p', { class: 'wiki-help', id: `${id}-help` })
      memory.input.setAttribute('aria-describedby', `${id}-help`)
      root.replaceChildren(el('div', { class: 'wiki-range' }, memory.label, memory.input, memory.output), memory.help)
    }
    const { input, output, label, help } = memory
    label.innerHTML = data.label
    help.innerHTML = data.help
    help.hidden = !data.help
    input.max = data.texts.length - 1
    const show = () => {
      output.textContent = data.texts[input.value]
      input.setAttribute('aria-valuetext', data.texts[input.value])
      wiki.bus.set(data.topic, Number(input.value))
    }
    // Never fight the hand: while it holds the slider, and until the server has answered the last value sent, what comes
    // from the server is an older state.
    if (data.value === memory.sent) memory.sent = null
    if (!memory.held && !memory.timer && memory.sent == null) input.value = data.value
    input.onpointerdown = () => { memory.held = true }
    input.onpointerup = input.onpointercancel = () => { memory.held = false }
    input.oninput = show
    input.onchange = () => {
      memory.held = false
      clearTimeout(memory.timer)                           // keys fire `change` each: send the last of a burst
      memory.timer = setTimeout(() => {
        memory.timer = 0
        memory.sent = Number(input.value)
        clearTimeout(memory.patience)
        memory.patience = setTimeout(() => { memory.sent = null }, 3000)   // a lost answer must not freeze the slider
        memory.trigger('value', memory.sent)
      }, 150)
    }
    show()
  }

  wiki.parts.choice = (root, data, memory) => {
    const name = memory.name ??= `wiki-choice-${ids++}`
    const shape = JSON.stringify([data.label, data.options])
    const pick = index => {
      wiki.bus.set(data.topic, index)
      if (memory.note) memory.note.innerHTML = data.options[index].note ?? ''
    }
    const option = (o, i) => {
      const input = el('input', { type: 'radio', name, value: o.id, checked: o.id === data.value })
      input.onchange = () => { pick(i); memory.trigger('value', o.id) }
      return el('label', { class: 'wiki-pill' }, input, el('span', { html: o.label }))
    }
    const chosen = Math.max(0, data.options.findIndex(o => o.id === data.value))
    if (memory.shape === shape) {                          // only the choice changed: nothing to rebuild, focus stays
      root.querySelectorAll('input')[chosen].checked = true
      return pick(chosen)
    }
    memory.shape = shape
    memory.note = data.options.some(o => o.note) ? el('p', { class: 'wiki-help', 'aria-live': 'polite' }) : null
    root.replaceChildren(el('fieldset', { class: 'wiki-choice' }, el('legend', { html: data.label }),
      el('div', { class: 'wiki-pills' }, data.options.map(option))), ...(memory.note ? [memory.note] : []))
    pick(chosen)
  }

  wiki.parts.action = (root, data, memory) => {
    const b = el('button', { type: 'button', class: 'wiki-button', onclick: () => memory.trigger('go', true) }, data.label)
    root.replaceChildren(b)
  }
})()
