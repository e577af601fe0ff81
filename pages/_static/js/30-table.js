// The ledger table: a real <table>, one button a cell, one tab stop, arrows between cells, copy in three formats.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki

  const frameOf = (data, index) => data.frames[Math.min(Math.max(index ?? 0, 0), data.frames.length - 1)]

  const slots = (table, row) => name => {
    if (name === 'row') return table.data.rows[row]
    const [symbol, at] = name.split('#')
    const holder = at != null && table.data.over ? wiki.tables.get(table.data.over) : table
    const column = holder.data.columns.findIndex(c => c.name === symbol)
    return wiki.cell(holder.frame[at ?? row][column])?.short ?? null
  }

  const open = (table, r, c, from) => {
    const { data } = table, q = data.columns[c], value = wiki.cell(table.frame[r][c])
    const name = data.rows[r] ? `${q.label} · ${wiki.escaped(data.rows[r])}` : q.label
    wiki.derive({
      quantity: q.id, title: name, kind: q.kind, how: q.how,
      general: q.general, substituted: wiki.fill(q.template, slots(table, r)),
      condition: q.condition, undefined: value ? '' : q.undefined, exact: value?.exact, decimal: value?.decimal,
      unit: q.unit, source: q.source, fn: data.function,
    }, from)
  }

  const paint = (button, text, q) => {
    if (button.painted === text) return                    // most cells stand still while a hand drags
    button.painted = text
    const value = wiki.cell(text)
    button.dataset.value = value?.decimal ?? ''
    button.dataset.exact = value?.exact ?? ''
    button.textContent = value ? value.decimal : q.undefined
    button.classList.toggle('wiki-undefined', !value)
  }

  const button = (q, r, c) => el('button', { type: 'button', class: 'wiki-cell', tabindex: r + c ? -1 : 0,
    'data-cell': `${r}-${c}`, 'data-quantity': q.id, 'data-kind': q.kind, 'aria-haspopup': 'dialog' })

  const move = (root, e) => {
    const at = e.target.dataset?.cell
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key]
    if (!at || !(step || e.key === 'Home' || e.key === 'End')) return
    const [r, c] = at.split('-').map(Number)
    const row = [...root.querySelectorAll(`[data-cell^="${r}-"]`)]
    const next = e.key === 'Home' ? row[0] : e.key === 'End' ? row.at(-1)
      : root.querySelector(`[data-cell="${r + step[0]}-${c + step[1]}"]`)
    if (next) { e.target.tabIndex = -1; next.tabIndex = 0; next.focus() }
    e.preventDefault()
  }

  const csv = table => {
    const field = x => /[",\n]/.test(x) ? `"${x.replaceAll('"', '""')}"` : x
    const head = ['row', ...table.data.columns.flatMap(q => [q.name, `${q.name}_exact`])]
    const body = table.frame.map((cells, r) => [table.data.rows[r], ...cells.flatMap(t => {
      const v = wiki.cell(t)
      return [v?.decimal ?? '', v?.exact ?? '']
    })])
    return [head, ...body].map(line => line.map(field).join(',')).join('\n').replaceAll('−', '-')
  }
  const grid = table => [['', ...table.data.columns.map(q => q.plain)],
    ...table.frame.map((cells, r) => [table.data.rows[r], ...cells.map((t, c) => wiki.cell(t)?.decimal ?? table.data.columns[c].undefined)])]
  const pipe = x => x.replaceAll('\\', '\\\\').replaceAll('|', '\\|')
  const texText = x => x.replace(/[&%$#_{}]/g, c => `\\${c}`).replaceAll('−', '$-$').replaceAll('~', '\\textasciitilde{}')
  const markdown = table => grid(table).map(line => line.map(pipe)).flatMap((line, i) => [`| ${line.join(' | ')} |`,
    ...(i ? [] : [`|${line.map(() => ' --- |').join('')}`])]).join('\n')
  const latex = table => [`\\begin{tabular}{l${'r'.repeat(table.data.columns.length)}}`,
    ['', ...table.data.columns.map(q => `$${q.tex}$`)].join(' & ') + ' \\\\',
    ...grid(table).slice(1).map(line => line.map(texText).join(' & ') + ' \\\\'), '\\end{tabular}'].join('\n')

  const copying = table => el('p', { class: 'wiki-copy' }, wiki.words.copy,
    [['CSV', csv], ['Markdown', markdown], ['LaTeX', latex]].map(([name, make]) =>
      el('button', { type: 'button', onclick: () => wiki.copy(make(wiki.tables.get(table.data.id)), wiki.words.copied) }, name)))

  const header = q => el('th', { scope: 'col', 'data-role': q.role },
    el('span', { class: 'wiki-mark', 'data-role': q.role, 'aria-hidden': 'true' }),
    el('span', { class: 'wiki-head-label', html: q.label }), el('span', { class: 'wiki-head-tex', html: q.symbol }))

  // The visible caption stands outside, so that it stays whole when a wide table scrolls.
  const asTable = data => [el('p', { class: 'wiki-table-caption', 'aria-hidden': 'true' }),
    el('div', { class: 'wiki-scroll', tabindex: 0, role: 'group' }, el('table', { class: 'wiki-table' },
      el('caption', { class: 'wiki-hidden' }),
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, data.head ?? wiki.words.row), data.columns.map(header))),
      el('tbody')))]

  const asStrip = data => el('dl', { class: 'wiki-strip' },
    data.columns.map((q, c) => el('div', {}, el('dt', {}, el('span', { html: q.label }), el('span', { class: 'wiki-head-tex', html: q.symbol })),
      el('dd', {}, button(q, 0, c)))))

  const row = (data, r) => el('tr', {}, el('th', { scope: 'row' }),
    data.columns.map((q, c) => el('td', { 'data-role': q.role }, button(q, r, c))))

  const write = (node, text, as = 'textContent') => {
    if (node.written === text) return
    node.written = text
    node[as] = text
  }

  // What a table is called and how many rows it has may change with every choice. Its head and its cells stay: formulas
  // cost far more than numbers, and a new element costs the browser its style besides.
  const arrange = (root, data) => {
    if (data.layout === 'strip') return root.firstChild.setAttribute('aria-label', data.plain)
    const [title, box] = root.children, body = box.querySelector('tbody')
    write(title, data.caption, 'innerHTML')
    box.setAttribute('aria-label', data.plain)
    write(box.querySelector('caption'), data.plain)
    while (body.children.length > data.rows.length) body.lastChild.remove()
    data.rows.forEach((name, r) => write((body.children[r] ?? body.appendChild(row(data, r))).firstChild, name))
    if (data.rows.length && !body.querySelector('[tabindex="0"]')) body.querySelector('.wiki-cell').tabIndex = 0
  }

  // Totals that change are said once the hand rests; the reader of a screen cannot see them move.
  const say = (table, memory) => {
    clearTimeout(memory.saying)
    memory.saying = setTimeout(() => wiki.announce(table.data.columns.slice(0, 2)
      .map((q, c) => `${q.plain} ${wiki.cell(table.frame[0][c])?.decimal ?? q.undefined}`).join('; ')), 700)
  }

  // What charts draw: a column of a table as it stands now, null where a number is undefined.
  wiki.cells = (table, name) => {
    const at = table.data.columns.findIndex(q => q.name === name)
    return table.frame.map(row => wiki.cell(row[at]))
  }
  wiki.numbers = (table, name) => wiki.cells(table, name).map(v => v && wiki.float(v.exact || v.decimal))

  const hint = new ResizeObserver(entries => {
    for (const { target } of entries) target.toggleAttribute('data-more', target.scrollWidth > target.clientWidth + 4)
  })

  wiki.parts.table = (root, data, memory, first) => {
    const drawn = data.layout !== 'none'                   // else it is there for the sums of another table
    const shape = JSON.stringify([data.layout, data.head, wiki.words.copy,
      data.columns.map(q => [q.id, q.kind, q.role, q.label, q.symbol, q.undefined])])
    const table = memory.table = { data, frame: frameOf(data, wiki.bus.get(data.topic)), buttons: [] }
    if (drawn && memory.shape !== shape) {
      root.replaceChildren(...(data.layout === 'strip' ? [asStrip(data)] : [...asTable(data), copying(table)]))
      for (const box of root.querySelectorAll('.wiki-scroll')) hint.observe(box)
    }
    memory.shape = shape
    if (drawn) arrange(root, data)
    table.buttons = [...root.querySelectorAll('.wiki-cell')].map(b => [b, ...b.dataset.cell.split('-').map(Number)])
    wiki.tables.set(data.id, table)
    root.dataset.table = data.id
    root.hidden = !drawn
    root.onkeydown = e => move(root, e)
    for (const [b, r, c] of table.buttons) b.onclick = () => open(table, r, c, b)
    const strip = data.layout === 'strip'
    const show = index => {
      table.frame = frameOf(data, index)
      for (const [b, r, c] of table.buttons) paint(b, table.frame[r][c], data.columns[c])
      root.dataset.frame = index ?? 0
      wiki.bus.set(`drawn:${data.id}`, {})                 // charts follow the table that they belong to
    }
    show(wiki.bus.get(data.topic))
    if (strip && !first) say(table, memory)
    wiki.listen(memory, [[data.topic, index => { show(index); if (strip) say(table, memory) }]])
  }
})()
