// Parts of the audit chapter: printed figures with ours beneath and a verdict, intervals on a line, a typed row.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki

  // Two columns in one cell: what is printed, what we get, and a verdict. The buttons are the table's own, moved, so
  // that they follow its frames and open the same derivations. A verdict that is computed is a button as well.
  const cellOf = (root, r, c) => root.querySelector(`[data-cell="${r}-${c}"]`)
  const line = (words, button) => el('span', { class: 'wiki-pair-line' }, el('span', { class: 'wiki-pair-label' }, words), button)

  const rebuild = (root, data, at) => {
    const { audit } = data, gone = new Set()
    if (data.layout === 'strip') {                         // a strip only leaves out what its derivations need
      const boxes = [...root.querySelectorAll('dl > div')]
      for (const name of audit.hide) boxes[at(name)].remove()
      return
    }
    data.rows.forEach((_, r) => {
      for (const [name, theirs] of Object.entries(audit.pairs)) {
        const button = cellOf(root, r, at(name)), box = button.parentElement
        box.className = 'wiki-pair'
        box.append(line(audit.words.printed, button), ...theirs.map(([other, words]) => {
          gone.add(at(other))
          const moved = cellOf(root, r, at(other))
          return line(words, moved)
        }))
      }
      for (const [name, tag] of Object.entries(audit.tags)) {
        const box = cellOf(root, r, at(name)).closest('td')
        box.classList.add('wiki-pair')
        if (tag.by) {
          const verdict = cellOf(root, r, at(tag.by))
          verdict.classList.add('wiki-tag')
          gone.add(at(tag.by))
          box.append(verdict)
        } else if (tag.fixed[r]) box.append(el('span', { class: 'wiki-tag', 'data-tag': tag.fixed[r] }, audit.words[tag.fixed[r]]))
      }
    })
    for (const name of audit.hide) gone.add(at(name))
    const heads = [...root.querySelectorAll('thead th')], rows = [...root.querySelectorAll('tbody tr')].map(tr => [...tr.children])
    for (const c of gone) for (const cells of [heads, ...rows]) cells[c + 1].remove()
  }

  const verdicts = (table, data, at) => {
    const { audit } = data, printed = new Set(audit.printed.map(at))
    const computed = new Map(Object.values(audit.tags).filter(t => t.by).map(t => [at(t.by), t.names]))
    for (const [b, r, c] of table.buttons) {
      const value = wiki.cell(table.frame[r][c])
      if (value && printed.has(c)) b.textContent = value.short          // as it is printed, without our six places
      if (!computed.has(c)) continue
      b.dataset.tag = value ? computed.get(c)[Number(value.exact)] : 'none'
      b.textContent = audit.words[b.dataset.tag]
    }
  }

  wiki.parts.audited = (root, data, memory, first) => {
    const shape = memory.shape
    wiki.parts.table(root, data, memory, first)
    const at = name => data.columns.findIndex(q => q.name === name)
    if (memory.shape !== shape || !root.querySelector('.wiki-pair, .wiki-audited')) {
      rebuild(root, data, at)
      root.firstElementChild.classList.add('wiki-audited')
    }
    const show = () => verdicts(memory.table, data, at)
    memory.off.push(wiki.bus.on(`drawn:${data.id}`, show))
    show()
  }

  // One interval a row on a common axis, what they share, and a needle under a slider. Places are percent from Python.
  wiki.parts.intervals = (root, data, memory) => {
    const band = data.common && el('span', { class: 'wiki-interval-common', style: `left:${data.common[0]}%;width:${data.common[1]}%` })
    const needles = []
    const lane = row => {
      const needle = el('span', { class: 'wiki-interval-needle', 'aria-hidden': 'true' })
      needles.push(needle)
      return el('div', { class: 'wiki-interval-row' }, el('span', { class: 'wiki-interval-name' }, row.name),
        el('span', { class: 'wiki-interval-line' }, band?.cloneNode(), row.span
          ? el('span', { class: 'wiki-interval-bar', 'data-draft': row.name, style: `left:${row.span[0]}%;width:${row.span[1]}%` })
          : el('span', { class: 'wiki-interval-none' }, data.none), needle))
    }
    const scale = el('div', { class: 'wiki-interval-row', 'aria-hidden': 'true' }, el('span'),
      el('span', { class: 'wiki-interval-scale' }, data.ticks.map(([place, text]) => el('span', { style: `left:${place}%` }, text))))
    root.replaceChildren(el('div', { class: 'wiki-intervals', role: 'img', 'aria-label': data.alt }, data.rows.map(lane), scale),
      el('p', { class: 'wiki-help', html: data.note }))
    const show = index => {
      const place = data.places[Math.min(index ?? 0, data.places.length - 1)]
      for (const needle of needles) { needle.style.left = `${place}%`; needle.hidden = place < 0 || place > 100 }
    }
    wiki.listen(memory, [[data.topic, show]])
    show(wiki.bus.get(data.topic))
    root.dataset.common = String(Boolean(data.common))
  }

  // A few labelled numbers. The server judges them; what it cannot use stays as typed beside the reason.
  let ids = 0
  wiki.parts.fields = (root, data, memory) => {
    const id = memory.id ??= `wiki-fields-${ids++}`
    const at = root.contains(document.activeElement) ? document.activeElement.name ?? '' : null
    const inputs = data.fields.map(f => {
      const bad = data.problems[f.id]
      const note = el('span', { class: 'wiki-error', id: `${id}-${f.id}-note` }, bad ?? '')
      const input = el('input', { type: 'text', inputmode: 'decimal', name: f.id, id: `${id}-${f.id}`, autocomplete: 'off', spellcheck: false,
        maxlength: 200, 'aria-invalid': bad ? 'true' : false, 'aria-describedby': note.id })
      input.value = f.text
      return el('div', { class: 'wiki-field' }, el('label', { for: input.id }, f.label), input, note)
    })
    const button = el('button', { type: 'submit', class: 'wiki-button' }, data.words.use)
    const form = el('form', { class: 'wiki-fields', novalidate: true }, el('div', { class: 'wiki-fields-row' }, inputs),
      button, el('p', { class: 'wiki-help', role: 'status' }, Object.keys(data.problems).length ? data.words.kept : data.words.hint))
    form.onsubmit = e => {
      e.preventDefault()
      memory.trigger('edit', Object.fromEntries(new FormData(form)))
    }
    root.replaceChildren(form)
    root.dataset.problems = Object.keys(data.problems).length
    root.dataset.tries = data.tries
    if (at != null) (form.querySelector('[aria-invalid]') ?? (form.elements[at] || button)).focus()
  }
})()
