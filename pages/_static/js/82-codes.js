// The editor of a small integer product: two columns of codes and the zero point of one of them. It never judges a
// number itself: the server does, and says so at the field, while the last good result stays on the page.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki
  let ids = 0

  const read = root => {
    const column = name => [...root.querySelectorAll(`[data-field="${name}"]`)].map(n => n.value)
    return { x: column('x'), w: column('w'), zero: column('zero')[0] }
  }

  wiki.parts.codes = (root, data, memory) => {
    const id = memory.id ??= `wiki-codes-${ids++}`
    const w = data.words
    const send = values => memory.trigger('edit', values ?? read(root))
    const at = root.contains(document.activeElement) ? document.activeElement.dataset.at : null

    const field = (name, row, value, label) => {
      const bad = data.problems.find(p => p.column === name && p.row === row)
      const note = bad ? el('span', { class: 'wiki-error', id: `${id}-${name}-${row}` }, bad.text) : null
      const input = el('input', { type: 'text', inputmode: 'numeric', 'data-field': name, 'data-at': `${name}-${row}`, 'aria-label': label,
        autocomplete: 'off', spellcheck: false, 'aria-invalid': bad ? 'true' : false, 'aria-describedby': note?.id })
      input.value = value
      input.onchange = () => send()
      input.onkeydown = e => { if (e.key === 'Enter') input.blur(), input.focus() }
      input.onpaste = e => {                                // a pasted list fills the column downwards
        const parts = name === 'zero' ? null : wiki.pasted(e)
        if (!parts) return
        const values = read(root)
        parts.slice(0, data.most + 1 - row).forEach((part, i) => { values[name][row + i] = part })
        for (const c of ['x', 'w']) while (values[c].length < values[name].length) values[c].push('0')
        send(values)
      }
      return [input, note]
    }

    const remove = r => {
      const values = read(root)
      values.x.splice(r, 1)
      values.w.splice(r, 1)
      send(values)
    }
    const add = () => {
      const values = read(root)
      send({ ...values, x: [...values.x, '0'], w: [...values.w, '0'] })
    }

    const line = (x, r) => el('tr', {},
      el('th', { scope: 'row' }, `k=${r + 1}`),
      el('td', {}, field('x', r, x, `${w.x} k=${r + 1}`)),
      el('td', {}, field('w', r, data.w[r] ?? '', `${w.w} k=${r + 1}`)),
      el('td', {}, el('button', { type: 'button', class: 'wiki-remove', 'aria-label': `${w.remove} k=${r + 1}`, title: w.remove,
        disabled: data.x.length < 2, onclick: () => remove(r) }, '×')))
    const whole = data.problems.filter(p => p.row == null).map(p => el('div', { class: 'wiki-error', role: 'alert' }, p.text))

    root.replaceChildren(
      el('table', { class: 'wiki-editor' }, el('caption', {}, w.caption),
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, w.term),
          el('th', { scope: 'col', 'data-role': 'target' }, el('span', { class: 'wiki-mark', 'data-role': 'target', 'aria-hidden': 'true' }), w.x),
          el('th', { scope: 'col', 'data-role': 'draft' }, el('span', { class: 'wiki-mark', 'data-role': 'draft', 'aria-hidden': 'true' }), w.w),
          el('th', { scope: 'col' }, el('span', { class: 'wiki-hidden' }, w.remove)))),
        el('tbody', {}, data.x.map(line), el('tr', { class: 'wiki-zero-row' },
          el('th', { scope: 'row', colspan: 2 }, w.zero), el('td', {}, field('zero', 0, data.zero, w.zero)), el('td')))),
      ...whole,
      el('p', { class: 'wiki-editor-foot' },
        el('button', { type: 'button', class: 'wiki-add', disabled: data.x.length >= data.most, onclick: add }, w.add),
        el('span', { class: 'wiki-help' }, data.problems.length ? w.kept : w.hint)))
    root.dataset.problems = data.problems.length
    if (at) root.querySelector(`[data-at="${at}"]`)?.focus()
  }
})()
