// Prediction lock: the page holds the question only. Feedback arrives from the server after a guess is committed.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki
  let ids = 0

  wiki.parts.predict = (root, data, memory) => {
    const name = memory.name ??= `wiki-guess-${ids++}`
    const locked = data.feedback != null
    memory.sent = false
    const button = el('button', { type: 'submit', class: 'wiki-button', disabled: true }, data.words.commit)
    const option = o => el('label', { class: 'wiki-option', 'data-chosen': String(o.id === data.guess), 'data-verdict': o.verdict },
      el('input', { type: 'radio', name, value: o.id, checked: o.id === data.guess, disabled: locked, onchange: () => { button.disabled = false } }),
      el('span', { html: o.label }))
    const slider = () => {
      const input = el('input', { type: 'range', min: 0, max: data.texts.length - 1, step: 1, disabled: locked, 'aria-label': data.words.guess })
      const output = el('output', {})
      input.value = data.guess ?? 0                        // the middle would be a guess, and may be the right one
      const show = () => {
        output.textContent = data.guess == null && !input.touched ? '?' : data.texts[input.value]
        input.setAttribute('aria-valuetext', output.textContent)
      }
      input.oninput = () => { input.touched = true; button.disabled = false; show() }
      show()
      return el('div', { class: 'wiki-range wiki-guess' }, el('span', {}, data.words.guess), input, output)
    }
    const form = el('form', { class: 'wiki-predict' },
      el('fieldset', {}, el('legend', { html: data.question }), data.texts ? slider() : data.options.map(option)),
      locked ? el('div', { class: 'wiki-feedback', role: 'status', html: data.feedback }) : button,
      locked && data.guess != null ? el('button', { type: 'button', class: 'wiki-again', onclick: () => memory.trigger('again', true) }, data.words.again) : null)
    form.onsubmit = e => {
      e.preventDefault()
      const chosen = form.querySelector(data.texts ? 'input[type=range]' : 'input:checked')
      if (!chosen || memory.sent) return                   // not `disabled`: that would throw the focus away
      memory.sent = true
      memory.trigger('commit', data.texts ? Number(chosen.value) : chosen.value)
    }
    const had = root.contains(document.activeElement)
    wiki.tie(form)
    root.replaceChildren(form)
    root.dataset.locked = String(locked)
    if (had) (form.querySelector('.wiki-again') ?? form.querySelector('input'))?.focus()
  }
})()
