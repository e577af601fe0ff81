// Parts of the drafter chapter: a reliability diagram over columns of tables, and two lists with examples of their own.
'use strict'
;(() => {
  const { wiki } = window
  const { el, svg } = wiki
  const SIDE = 300, LEFT = 46, TOP = 10
  const x = a => LEFT + SIDE * a, y = a => TOP + SIDE * (1 - a)

  const frame = data => [
    svg('rect', { x: LEFT, y: TOP, width: SIDE, height: SIDE, class: 'wiki-rel-box' }),
    svg('line', { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: 'wiki-rel-diagonal' }),
    ...[0, 0.5, 1].flatMap(v => [
      svg('text', { x: x(v), y: y(0) + 18, 'text-anchor': 'middle' }, String(v)),
      svg('text', { x: x(0) - 8, y: y(v) + 5, 'text-anchor': 'end' }, String(v))]),
    svg('text', { x: x(0.5), y: y(0) + 38, 'text-anchor': 'middle', class: 'wiki-rel-axis' }, data.across),
    svg('text', { x: 13, y: y(0.5), 'text-anchor': 'middle', transform: `rotate(-90 13 ${y(0.5)})`, class: 'wiki-rel-axis' }, data.up)]

  const points = series => {
    const table = wiki.tables.get(series.table)
    if (!table) return []
    const across = wiki.numbers(table, series.x), up = wiki.numbers(table, series.y), sizes = series.size && wiki.numbers(table, series.size)
    const found = across.map((a, i) => ({ a, b: up[i], n: sizes ? sizes[i] : 1 })).filter(p => p.a != null && p.b != null)
    const most = Math.max(...found.map(p => p.n))
    return found.map(p => ({ ...p, r: series.size ? 2.5 + 6.5 * Math.sqrt(p.n / most) : 5 }))
  }

  const mark = (role, p) => role === 'after'
    ? svg('rect', { x: x(p.a) - p.r, y: y(p.b) - p.r, width: 2 * p.r, height: 2 * p.r, class: 'wiki-rel-after' })
    : svg('circle', { cx: x(p.a), cy: y(p.b), r: p.r, class: 'wiki-rel-before' })

  wiki.parts.reliability = (root, data, memory) => {
    const box = svg('svg', { viewBox: '0 0 360 356', role: 'img', 'aria-label': data.alt, class: 'wiki-rel' })
    const legend = el('p', { class: 'wiki-line-legend' }, data.series.map(s => el('span', {}, el('i', { 'data-mark': `rel-${s.role}`, 'aria-hidden': 'true' }), s.label)))
    root.replaceChildren(legend, box, el('p', { class: 'wiki-help', html: data.note }))
    const draw = () => {
      const drawn = data.series.map(points)
      box.replaceChildren(...frame(data))
      drawn.forEach((found, i) => {
        const { role } = data.series[i]
        found.slice(1).forEach((p, n) => box.append(svg('line', { x1: x(found[n].a), y1: y(found[n].b), x2: x(p.a), y2: y(p.b), class: `wiki-rel-line wiki-rel-${role}` })))
        box.append(...found.map(p => mark(role, p)))
      })
      root.dataset.points = drawn.map(found => found.length).join(',')
    }
    wiki.listen(memory, data.series.map(s => [`drawn:${s.table}`, draw]))
    draw()
  }

  // The two pasted lists of the ledger, with what to write in each.
  wiki.parts.outcomes = (root, data, memory, first) => {
    wiki.parts.paste(root, data, memory, first)
    for (const [name, text] of Object.entries(data.examples)) memory.areas[name].placeholder = text
  }
})()
