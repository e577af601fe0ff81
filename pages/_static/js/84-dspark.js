// Parts of the verification-budget chapter: a form of lists, lines over a table's rows, marks on rows.
'use strict'
;(() => {
  const { wiki } = window
  const { el, svg } = wiki
  let ids = 0

  // Fields as text. The server judges them; what it cannot use stays as typed, each fault at its field.
  wiki.parts.form = (root, data, memory, first) => {
    if (first) {
      const id = `wiki-form-${ids++}`
      memory.fold = el('details', { class: 'wiki-fold wiki-form', open: data.open })
      memory.title = el('summary')
      memory.help = el('p', { class: 'wiki-help', id: `${id}-help` })
      memory.rows = data.fields.map((f, i) => {
        const note = el('div', { class: 'wiki-error', role: 'alert', id: `${id}-${i}-note` })
        const input = el('input', { type: 'text', id: `${id}-${i}`, spellcheck: false, autocomplete: 'off', 'data-field': f.name,
          'aria-describedby': `${id}-${i}-note ${id}-help` })
        input.onkeydown = e => { if (e.key === 'Enter') memory.button.click() }
        return { input, note, label: el('label', { for: `${id}-${i}` }) }
      })
      memory.button = el('button', { type: 'button', class: 'wiki-button' })
      memory.kept = el('span', { class: 'wiki-help' })
      memory.fold.append(memory.title, memory.help, ...memory.rows.map(r => el('div', { class: 'wiki-form-field' }, r.label, r.input, r.note)),
        el('p', { class: 'wiki-editor-foot' }, memory.button, memory.kept))
      root.replaceChildren(memory.fold)
    }
    memory.title.textContent = data.title
    memory.help.innerHTML = data.help
    memory.kept.textContent = data.kept
    memory.rows.forEach((row, i) => {
      const f = data.fields[i]
      row.label.innerHTML = f.label
      if (row.shown !== f.text) row.input.value = row.shown = f.text
      row.input.setAttribute('aria-invalid', f.problems.length ? 'true' : 'false')
      row.note.replaceChildren(...f.problems.map(text => el('p', {}, text)))
    })
    const bad = data.fields.some(f => f.problems.length)
    if (bad) memory.fold.open = true
    memory.button.textContent = data.words.use
    memory.button.onclick = () => {
      memory.button.textContent = data.words.working
      memory.trigger('edit', { texts: Object.fromEntries(data.fields.map((f, i) => [f.name, memory.rows[i].input.value.slice(0, 5000)])) })
    }
    root.dataset.problems = data.fields.reduce((n, f) => n + f.problems.length, 0)
    root.dataset.tries = data.tries
  }

  // One line per table over its rows; a ring where the table says best, a bar where a rule stopped.
  const H = 230, TOP = 26, BASE = 196
  wiki.parts.peaks = (root, data, memory) => {
    const box = svg('svg', { width: '100%', height: H, role: 'img', 'aria-label': data.alt, class: 'wiki-peaks' })
    const legend = [...data.series.map(s => ['line', s.role, s.label]), ['best', 'ink', data.best], ...(data.stopped ? [['stop', 'ink', data.stopped]] : [])]
    root.replaceChildren(
      el('p', { class: 'wiki-line-legend' }, legend.map(([mark, role, text]) => el('span', {}, el('i', { 'data-line': mark, 'data-role': role, 'aria-hidden': 'true' }), text))),
      el('p', { class: 'wiki-line-title' }, data.axis), box, el('p', { class: 'wiki-peaks-foot' }, data.foot), el('p', { class: 'wiki-help', html: data.note }))
    const draw = () => {
      memory.waiting = false
      const lines = data.series.map(s => ({ ...s, found: wiki.tables.get(s.table) })).filter(s => s.found)
      if (!lines.length) return
      for (const line of lines) {
        line.cells = wiki.cells(line.found, line.y)
        line.values = wiki.numbers(line.found, line.y)
        line.best = wiki.cells(line.found, line.mark).map(c => c?.exact === '1')
      }
      const names = lines.reduce((a, b) => a.cells.length >= b.cells.length ? a : b).found.data.rows
      const top = Math.max(...lines.flatMap(l => l.values)) || 1
      const x = i => 100 * (i + 0.5) / names.length, y = v => BASE - (BASE - TOP) * v / top
      const width = memory.width || 600
      const every = Math.ceil(names.length * (8 * Math.max(...names.map(n => n.length)) + 10) / width)
      box.replaceChildren(svg('line', { x1: '0%', x2: '100%', y1: BASE, y2: BASE, class: 'wiki-line-axis' }))
      names.forEach((name, i) => { if (i % every === 0) box.append(svg('text', { x: `${x(i)}%`, y: BASE + 20, 'text-anchor': 'middle', class: 'wiki-peaks-tick' }, name)) })
      if (data.stop != null && data.stop < names.length) box.append(svg('line', { x1: `${x(data.stop)}%`, x2: `${x(data.stop)}%`, y1: TOP - 18, y2: BASE, class: 'wiki-peaks-stop' }))
      for (const { values, cells, best, role } of lines) {
        values.slice(1).forEach((v, i) => box.append(svg('line', { x1: `${x(i)}%`, y1: y(values[i]), x2: `${x(i + 1)}%`, y2: y(v), class: 'wiki-peaks-piece', 'data-role': role })))
        values.forEach((v, i) => box.append(svg('circle', { cx: `${x(i)}%`, cy: y(v), r: best[i] ? 8 : 4, class: best[i] ? 'wiki-peaks-best' : 'wiki-peaks-point', 'data-role': role })))
        values.forEach((v, i) => { if (best[i]) box.append(svg('text', { x: `${x(i)}%`, y: y(v) - 13, 'text-anchor': 'middle', class: 'wiki-peaks-value' }, cells[i].decimal)) })
      }
      root.dataset.best = lines.map(l => l.best.flatMap((b, i) => b ? [i] : []).join('+')).join(',')
      root.dataset.lines = lines.length
    }
    // After the frame in which the table was painted, once for all tables that moved: the hand never waits for it.
    const later = () => { if (!memory.waiting) { memory.waiting = true; requestAnimationFrame(() => setTimeout(draw)) } }
    memory.size?.disconnect()
    memory.size = new ResizeObserver(([{ contentRect }]) => { if (contentRect.width !== memory.width) { memory.width = contentRect.width; later() } })
    memory.size.observe(box)
    wiki.listen(memory, data.series.map(s => [`drawn:${s.table}`, later]))
    memory.off.push(() => memory.size.disconnect())
    draw()
  }

  // Rows of a table that a player points at, and those where a rule ends.
  wiki.parts.rowmark = (root, data, memory) => {
    root.hidden = true
    const show = () => {
      const now = wiki.bus.get(data.topic) ?? 0
      document.querySelectorAll(`[data-table="${data.table}"] tbody tr`).forEach((row, i) => {
        row.toggleAttribute('data-now', i === now)
        if (i === now) row.setAttribute('aria-current', 'step'); else row.removeAttribute('aria-current')
        row.toggleAttribute('data-stop', i === data.marks.stop)
        row.toggleAttribute('data-best', i === data.marks.best)
      })
    }
    wiki.listen(memory, [[data.topic, show], [`drawn:${data.table}`, show]])
    show()
  }
})()
