// The editor of named rows with two columns of numbers. It never judges a number itself: the server does, and says so
// at the field, while the last good result stays on the page.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki
  let ids = 0

  const read = root => {
    const rows = [...root.querySelectorAll('tbody tr')]
    const column = name => rows.map(r => r.querySelector(`[data-field="${name}"]`).value)
    return { tokens: column('token'), p: column('p'), q: column('q') }
  }

  const unused = wiki.unused = names => [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].find(c => !names.includes(c)) ?? String(names.length + 1)

  // What had the focus may be gone: a pressed × goes with the last row, a button of a message with its message.
  const refocus = (root, at, last) => {
    const [name, where] = at.split('-')
    const instead = { remove: [`remove-${last}`, 'add'], add: [`remove-${last}`], fix: [`${where}-0`] }
    const places = [at, ...instead[name] ?? []]
    places.map(x => root.querySelector(`[data-at="${x}"]:enabled`)).find(Boolean)?.focus()
  }

  wiki.parts.editor = (root, data, memory) => {
    const id = memory.id ??= `wiki-editor-${ids++}`
    const w = data.words
    const send = rows => { memory.trigger('edit', rows ?? read(root)) }
    const { tokens, p, q, ...rest } = data
    const shape = JSON.stringify([tokens, rest])
    if (memory.shape === shape && !data.problems.length) {  // other numbers in the same fields
      for (const c of ['p', 'q']) root.querySelectorAll(`[data-field="${c}"]`).forEach((input, r) => { input.value = data[c][r] })
      return
    }
    memory.shape = shape
    const at = root.contains(document.activeElement) ? document.activeElement.dataset.at : null

    const noteId = p => `${id}-${p.column}-${p.row ?? 'all'}`
    const field = (name, row, value, label) => {
      const bad = data.problems.find(p => p.column === name && (p.row ?? row) === row)  // its own, or its column's
      const note = bad?.row != null ? el('span', { class: 'wiki-error', id: noteId(bad) }, bad.text) : null
      const input = el('input', { type: 'text', 'data-field': name, 'data-at': `${name}-${row}`, 'aria-label': label, autocomplete: 'off',
        spellcheck: false, inputmode: name === 'token' ? 'text' : 'decimal', 'aria-invalid': bad ? 'true' : false, 'aria-describedby': bad && noteId(bad) })
      input.value = value
      input.onchange = () => send()
      input.onkeydown = e => { if (e.key === 'Enter') input.blur(), input.focus() }
      input.onpaste = e => {                                // a pasted list fills the column downwards
        const parts = name === 'token' ? null : wiki.pasted(e)
        if (!parts) return
        const rows = read(root)
        if (row + parts.length > data.most) return send({ ...rows, count: row + parts.length, column: name })
        parts.forEach((x, i) => { rows[name][row + i] = x })
        const n = rows[name].length
        for (const c of ['token', 'p', 'q']) {
          const key = c === 'token' ? 'tokens' : c
          while (rows[key].length < n) rows[key].push(c === 'token' ? unused(rows.tokens) : '0')
        }
        send(rows)
      }
      return [input, note]
    }

    const remove = r => {
      const rows = read(root)
      for (const list of Object.values(rows)) list.splice(r, 1)
      send(rows)
    }
    const add = () => {
      const rows = read(root)
      send({ tokens: [...rows.tokens, unused(rows.tokens)], p: [...rows.p, '0'], q: [...rows.q, '0'] })
    }

    const line = (token, r) => el('tr', {},
      el('td', {}, field('token', r, token, `${w.token} ${r + 1}`)),
      ...['p', 'q'].map(c => el('td', {}, field(c, r, data[c][r], `${c}(${token})`))),
      el('td', {}, el('button', { type: 'button', class: 'wiki-remove', 'data-at': `remove-${r}`, 'aria-label': `${w.remove} ${token}`, title: w.remove,
        disabled: data.tokens.length < 2, onclick: () => remove(r) }, '×')))
    const whole = c => data.problems.filter(p => p.column === c && p.row == null).map(p => el('div', { class: 'wiki-error', role: 'alert' },
      el('span', { id: noteId(p) }, p.text),
      p.code === 'sum_not_one' ? el('button', { type: 'button', class: 'wiki-fix', 'data-at': `fix-${c}`, 'aria-label': `${w.normalise} (${w[c]})`,
        onclick: () => memory.trigger('normalise', { column: c, ...read(root) }) }, w.normalise) : null))

    root.replaceChildren(
      el('table', { class: 'wiki-editor' }, el('caption', {}, w.caption),
        el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, w.token),
          ...['p', 'q'].map(c => el('th', { scope: 'col', 'data-role': c === 'p' ? 'target' : 'draft' }, el('span', { class: 'wiki-mark', 'data-role': c === 'p' ? 'target' : 'draft', 'aria-hidden': 'true' }), w[c])),
          el('th', { scope: 'col' }, el('span', { class: 'wiki-hidden' }, w.remove)))),
        el('tbody', {}, data.tokens.map(line))),
      ...['token', 'p', 'q'].flatMap(whole),
      el('p', { class: 'wiki-editor-foot' },
        el('button', { type: 'button', class: 'wiki-add', 'data-at': 'add', disabled: data.tokens.length >= data.most, onclick: add }, w.add),
        el('span', { class: 'wiki-help' }, data.kept ? w.kept : w.hint)))
    root.dataset.problems = data.problems.length
    if (at) refocus(root, at, tokens.length - 1)
  }

  // Two long lists, for totals only.
  wiki.parts.paste = (root, data, memory, first) => {
    const w = data.words
    if (first) {
      const area = c => el('textarea', { rows: 3, id: `wiki-paste-${c}`, spellcheck: false, 'data-field': c, placeholder: '0.5, 0.25, 1/8, 1/8' })
      const note = c => el('div', { class: 'wiki-error', role: 'alert', id: `wiki-paste-${c}-note` })
      memory.areas = { p: area('p'), q: area('q') }
      memory.notes = { p: note('p'), q: note('q') }
      memory.fold = el('details', { class: 'wiki-fold', open: data.open })
    }
    // A list far over the limit is only counted here: it would not fit through the connection.
    const send = more => {
      const text = { p: memory.areas.p.value, q: memory.areas.q.value }
      const counts = Object.fromEntries(Object.entries(text).map(([c, x]) => [c, wiki.count(x)]))
      button.disabled = true
      button.textContent = w.working
      memory.trigger('paste', Math.max(counts.p, counts.q) > data.most ? { counts } : { ...text, ...more })
    }
    const button = el('button', { type: 'button', class: 'wiki-button', onclick: () => send({}) }, w.summarise)
    for (const [c, area] of Object.entries(memory.areas)) {  // nor is it put into the field, which would hold the page
      area.onpaste = e => {
        const counts = { p: wiki.count(memory.areas.p.value), q: wiki.count(memory.areas.q.value) }
        counts[c] = wiki.count(e.clipboardData.getData('text'))
        if (counts[c] <= data.most) return
        e.preventDefault()
        button.disabled = true
        button.textContent = w.working
        memory.trigger('paste', { counts })
      }
    }
    memory.fold.replaceChildren(el('summary', {}, data.title), el('p', { class: 'wiki-help', html: data.help }),
      el('div', { class: 'wiki-paste' },
        ...['p', 'q'].map(c => el('div', {}, el('label', { for: `wiki-paste-${c}` }, w[c]), memory.areas[c], memory.notes[c])), button))
    if (!memory.fold.isConnected) root.replaceChildren(memory.fold)
    const unequal = data.problems.find(p => p.code === 'lengths_differ')  // one message for both lists
    for (const c of ['p', 'q']) {
      const bad = data.problems.filter(p => p.column === c)
      if (bad.length || unequal) memory.areas[c].setAttribute('aria-invalid', 'true')
      else memory.areas[c].removeAttribute('aria-invalid')
      memory.areas[c].setAttribute('aria-describedby', `wiki-paste-${unequal?.column ?? c}-note`)
      memory.notes[c].replaceChildren(...bad.map(p => el('p', {}, p.text,
        p.code === 'sum_not_one' ? el('button', { type: 'button', class: 'wiki-fix', onclick: () => send({ normalise: true }) }, w.normalise) : null)))
    }
    root.dataset.problems = data.problems.length
    root.dataset.tries = data.tries
  }
})()
