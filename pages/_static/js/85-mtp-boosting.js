// Parts of the draft-training chapter: an editor of named columns, lines over a table's rows, a field of arrows, and a
// text that follows a control. Numbers come from tables on the page; here they are only laid out.
'use strict'
;(() => {
  const { wiki } = window
  const { el, svg } = wiki
  let ids = 0
  const numbers = (table, name) => wiki.numbers(table, name).map(v => v ?? NaN)

  // A text for each position of a control.
  wiki.parts.follow = (root, data, memory) => {
    const box = el('div', { class: 'wiki-follow', role: 'status' })
    root.replaceChildren(box)
    const show = i => { box.innerHTML = data.texts[Math.min(i ?? 0, data.texts.length - 1)] }
    wiki.listen(memory, [[data.topic, show]])
    show(wiki.bus.get(data.topic))
  }

  // Rows of a name and numbers, in a fold. The server judges; what it cannot use stays as typed beside the reasons.
  wiki.parts.columns = (root, data, memory, first) => {
    const id = memory.id ??= `wiki-columns-${ids++}`
    const w = data.words, names = data.columns.map(c => c.name)
    if (first) {
      memory.fold = el('details', { class: 'wiki-fold', open: data.open })
      root.replaceChildren(memory.fold)
    }
    if (data.open) memory.fold.open = true
    const read = () => Object.fromEntries(names.map(n => [n, [...memory.fold.querySelectorAll(`[data-field="${n}"]`)].map(i => i.value)]))
    const send = fields => memory.trigger('edit', { fields: fields ?? read() })
    const at = root.contains(document.activeElement) ? document.activeElement.dataset.at : null
    const rows = Math.max(...names.map(n => data.fields[n].length))
    const field = (column, row) => {
      const bad = data.problems.find(p => p.column === column.name && p.row === row)
      const note = bad ? el('span', { class: 'wiki-error', id: `${id}-${column.name}-${row}` }, bad.text) : null
      const input = el('input', { type: 'text', 'data-field': column.name, 'data-at': `${column.name}-${row}`, autocomplete: 'off', spellcheck: false,
        'aria-label': `${column.label} ${row + 1}`, inputmode: column.name === 'token' ? 'text' : 'decimal', 'aria-invalid': bad ? 'true' : false, 'aria-describedby': note?.id })
      input.value = data.fields[column.name][row] ?? ''
      input.onchange = () => send()
      input.onkeydown = e => { if (e.key === 'Enter') input.blur(), input.focus() }
      input.onpaste = e => {                                // a pasted list fills the column downwards
        const parts = column.name === 'token' ? null : wiki.pasted(e)
        if (!parts) return
        if (row + parts.length > data.most) return memory.trigger('edit', { count: row + parts.length })
        const fields = read()
        parts.forEach((x, i) => { fields[column.name][row + i] = x })
        for (const n of names) while (fields[n].length < fields[column.name].length) fields[n].push(n === 'token' ? wiki.unused(fields.token) : '0')
        send(fields)
      }
      return el('td', {}, input, note)
    }
    const change = make => { const fields = read(); for (const n of names) make(fields[n], n, fields); send(fields) }
    const line = row => el('tr', {}, data.columns.map(c => field(c, row)),
      el('td', {}, el('button', { type: 'button', class: 'wiki-remove', 'aria-label': `${w.remove} ${data.fields.token[row] ?? row + 1}`, title: w.remove,
        onclick: () => change(list => list.splice(row, 1)) }, '×')))
    const whole = data.problems.filter(p => p.row == null).map(p => el('div', { class: 'wiki-error', role: 'alert' }, p.text,
      p.code === 'sum_not_one' ? el('button', { type: 'button', class: 'wiki-fix', onclick: () => memory.trigger('normalise', { column: p.column, fields: read() }) }, w.normalise) : null))
    memory.fold.replaceChildren(el('summary', {}, data.title), el('p', { class: 'wiki-help', html: data.help }),
      el('table', { class: 'wiki-editor' }, el('caption', { class: 'wiki-hidden' }, data.title),
        el('thead', {}, el('tr', {}, data.columns.map(c => el('th', { scope: 'col', 'data-role': c.role }, el('span', { class: 'wiki-mark', 'data-role': c.role, 'aria-hidden': 'true' }), c.label)),
          el('th', { scope: 'col' }, el('span', { class: 'wiki-hidden' }, w.remove)))),
        el('tbody', {}, Array.from({ length: rows }, (_, r) => line(r)))),
      ...whole,
      el('p', { class: 'wiki-editor-foot' },
        el('button', { type: 'button', class: 'wiki-add', disabled: rows >= data.most, onclick: () => change((list, n, fields) => list.push(n === 'token' ? wiki.unused(fields.token) : '0')) }, w.add),
        el('span', { class: 'wiki-help' }, data.problems.length ? w.kept : w.hint)))
    root.dataset.problems = data.problems.length
    if (at) memory.fold.querySelector(`[data-at="${at}"]`)?.focus()
  }

  // Lines over the rows of a table, one for each named column, told apart by colour and dash.
  wiki.parts.lines = (root, data, memory) => {
    const box = svg('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': data.alt, class: 'wiki-lines' })
    const top = el('span'), bottom = el('span'), foot = el('div', { class: 'wiki-lines-foot', 'aria-hidden': 'true' }, el('span'), el('span', {}, data.axis), el('span'))
    const legend = el('p', { class: 'wiki-lines-legend' }, data.series.map((s, i) => {
      const line = svg('svg', { width: 30, height: 8, 'aria-hidden': 'true' })
      line.append(svg('line', { x1: 0, x2: 30, y1: 4, y2: 4, class: 'wiki-lines-piece', 'data-role': s.role, 'data-dash': i }))
      return el('span', {}, line, s.label)
    }))
    root.replaceChildren(legend, el('div', { class: 'wiki-lines-box' }, el('div', { class: 'wiki-lines-scale', 'aria-hidden': 'true' }, top, bottom), box), foot,
      el('p', { class: 'wiki-help', html: data.note }))
    const draw = () => {
      const table = wiki.tables.get(data.table)
      if (!table) return
      const x = numbers(table, data.x).map(v => data.log ? Math.log(v) : v)
      const values = data.series.map(s => numbers(table, s.column))
      const [left, right] = [Math.min(...x), Math.max(...x)]
      const all = values.flat().filter(Number.isFinite)
      const up = data.logy ? Math.log : y => y
      const high = data.range ? data.range[1] : Math.max(...all), low = data.range ? data.range[0] : data.logy ? Math.min(...all.filter(y => y > 0)) : Math.min(0, ...all)
      const at = (r, y) => `${2 + 96 * (x[r] - left) / (right - left || 1)},${96 - 92 * (up(Math.max(y, data.logy ? low : y)) - up(low)) / (up(high) - up(low) || 1)}`
      box.replaceChildren(...[4, 50, 96].map(y => svg('line', { x1: 0, x2: 100, y1: y, y2: y, class: 'wiki-lines-rule' })),
        ...data.series.map((s, i) => svg('polyline', { points: values[i].map((y, r) => at(r, y)).join(' '), class: 'wiki-lines-piece', 'data-role': s.role, 'data-dash': i })))
      const mark = wiki.bus.get(data.cursor)
      if (data.cursor && mark < x.length) {
        const cx = at(mark, low).split(',')[0]
        box.append(svg('line', { x1: cx, x2: cx, y1: 2, y2: 98, class: 'wiki-lines-cursor' }))
      }
      const text = y => y === 0 ? '0' : Math.abs(y) < 0.001 ? y.toExponential(1).replace('e-', 'e−').replace('-', '−') : String(Number(y.toPrecision(3))).replace('-', '−')
      top.textContent = text(high)
      bottom.textContent = text(low)
      foot.children[0].textContent = table.data.rows[x.indexOf(left)]
      foot.children[2].textContent = table.data.rows[x.indexOf(right)]
      root.dataset.drawn = String(1 + Number(root.dataset.drawn ?? 0))
    }
    wiki.listen(memory, [[`drawn:${data.table}`, draw], [data.cursor, draw]])
    draw()
  }

  // Arrows of descent in the plane of two logits; all points of one gap share the pull that the table gives.
  wiki.parts.arrows = (root, data, memory) => {
    const SIDE = 340, CELL = 46, box = svg('svg', { viewBox: `0 0 ${SIDE} ${SIDE}`, role: 'img', 'aria-label': data.alt, class: 'wiki-arrows' })
    root.replaceChildren(el('div', { class: 'wiki-arrows-box' }, box, el('p', { class: 'wiki-help', html: data.note })))
    const at = (a, b) => [SIDE / 2 + CELL * a, SIDE / 2 - CELL * b]
    const draw = () => {
      const table = wiki.tables.get(data.table)
      if (!table) return
      const column = data.columns[Math.min(wiki.bus.get(data.topic) ?? 0, data.columns.length - 1)]
      const gaps = numbers(table, data.gap), pulls = numbers(table, column), pull = new Map(gaps.map((gap, r) => [gap, pulls[r]]))
      box.replaceChildren()
      for (let i = -3; i <= 3; i++) {
        const [x, y] = at(i, i)
        box.append(svg('line', { x1: x, x2: x, y1: 8, y2: SIDE - 8, class: 'wiki-lines-rule' }), svg('line', { y1: y, y2: y, x1: 8, x2: SIDE - 8, class: 'wiki-lines-rule' }))
      }
      const best = numbers(table, data.best)[0]                 // where the draft equals the teacher: a line of one gap
      const [x1, y1] = at(Math.max(-3.6, -3.6 + best), Math.max(-3.6 - best, -3.6)), [x2, y2] = at(Math.min(3.6, 3.6 + best), Math.min(3.6 - best, 3.6))
      box.append(svg('line', { x1, y1, x2, y2, class: 'wiki-arrows-best' }))
      for (let a = -3; a <= 3; a++) for (let b = -3; b <= 3; b++) {
        const g = pull.get(a - b), [x, y] = at(a, b), size = 30 * Math.min(1.2, Math.abs(g)), way = g < 0 ? 1 : -1
        if (size < 1.5) { box.append(svg('circle', { cx: x, cy: y, r: 2.2, class: 'wiki-arrows-dot' })); continue }
        const dx = way * size * Math.SQRT1_2, [tx, ty] = [x + dx, y + dx], head = Math.min(7, 2 + size / 3) * way
        box.append(svg('line', { x1: x, y1: y, x2: tx, y2: ty, class: 'wiki-arrows-shaft' }), svg('circle', { cx: x, cy: y, r: 1.6, class: 'wiki-arrows-dot' }),
          svg('polygon', { points: `${tx},${ty} ${tx - head},${ty - head * 0.25} ${tx - head * 0.25},${ty - head}`, class: 'wiki-arrows-head' }))
      }
      const label = (text, x, y, anchor) => box.append(svg('text', { x, y, 'text-anchor': anchor, class: 'wiki-arrows-label' }, text))
      label(data.axes[0], SIDE - 10, SIDE - 12, 'end')
      label(data.axes[1], 12, 20, 'start')
      root.dataset.drawn = String(1 + Number(root.dataset.drawn ?? 0))
      root.dataset.column = column
    }
    wiki.listen(memory, [[`drawn:${data.table}`, draw], [data.topic, draw]])
    draw()
  }
})()
