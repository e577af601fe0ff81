// A line chart over the rows of a table: the table is its text twin, and says which row is best. Laid out in percent.
'use strict'
;(() => {
  const { wiki } = window
  const { el, svg } = wiki
  const HEIGHT = 230, TOP = 14, LEFT = 7, RIGHT = 98            // pixels, pixels, percent, percent

  const steps = most => {                                        // round marks up to the largest value
    const rough = (most || 1) / 4, power = 10 ** Math.floor(Math.log10(rough))
    const step = [1, 2, 5, 10].find(k => k * power >= rough) * power
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => [i * step, (i * step).toFixed(step < 1 ? 1 : 0)])
  }

  wiki.parts.chart = (root, data, memory) => {
    const box = svg('svg', { width: '100%', height: HEIGHT + 26, role: 'img', 'aria-label': data.alt, class: 'wiki-chart' })
    const entry = (mark, text) => el('span', {}, el('i', { 'data-mark': mark, 'aria-hidden': 'true' }), text)
    const legend = el('p', { class: 'wiki-chart-legend' }, data.series.map(s => entry(s.role, s.label)),
      data.best ? entry('best', data.words.best) : '', data.at ? entry('at', data.words.at) : '', data.level != null ? entry('level', data.words.level) : '')
    root.replaceChildren(legend, box, el('p', { class: 'wiki-chart-axis-title', 'aria-hidden': 'true' }, data.axis), el('p', { class: 'wiki-help', html: data.note }))

    const draw = () => {
      const found = wiki.tables.get(data.table)
      if (!found) return
      const values = data.series.map(s => wiki.numbers(found, s.column))
      const most = Math.max(data.level ?? 0, ...values.flat().filter(v => v != null)) * 1.06
      const rows = found.data.rows, n = rows.length
      const x = i => LEFT + (RIGHT - LEFT) * (n > 1 ? i / (n - 1) : 0.5)
      const y = v => HEIGHT - (HEIGHT - TOP) * v / (most || 1)
      box.replaceChildren()
      for (const [v, text] of steps(most)) {
        box.append(svg('line', { x1: `${LEFT}%`, x2: `${RIGHT}%`, y1: y(v), y2: y(v), class: 'wiki-chart-grid' }))
        box.append(svg('text', { x: `${LEFT - 1}%`, y: y(v) + 4, 'text-anchor': 'end', class: 'wiki-chart-text' }, text))
      }
      rows.forEach((name, i) => box.append(svg('text', { x: `${x(i)}%`, y: HEIGHT + 20, 'text-anchor': 'middle', class: 'wiki-chart-text' }, name)))
      if (data.level != null) box.append(svg('line', { x1: `${LEFT}%`, x2: `${RIGHT}%`, y1: y(data.level), y2: y(data.level), class: 'wiki-chart-level' }))
      const at = data.at ? Math.min(wiki.bus.get(data.at) ?? 0, n - 1) : null
      if (at != null) box.append(svg('line', { x1: `${x(at)}%`, x2: `${x(at)}%`, y1: TOP, y2: HEIGHT, class: 'wiki-chart-at' }))
      data.series.forEach((s, k) => values[k].forEach((v, i) => {
        const before = i ? values[k][i - 1] : null
        if (v == null) return
        if (before != null) box.append(svg('line', { x1: `${x(i - 1)}%`, y1: y(before), x2: `${x(i)}%`, y2: y(v), class: 'wiki-chart-piece', 'data-role': s.role }))
        box.append(svg('circle', { cx: `${x(i)}%`, cy: y(v), r: 3.5, class: 'wiki-chart-point', 'data-role': s.role }))
      }))
      if (data.best) {
        const told = wiki.tables.get(data.best[0])
        const cell = told && wiki.cells(told, data.best[1])[0]
        const i = cell ? Number(cell.exact) : -1
        if (values[0][i] != null) box.append(svg('circle', { cx: `${x(i)}%`, cy: y(values[0][i]), r: 8, class: 'wiki-chart-best' }))
        root.dataset.best = i
      }
      root.dataset.points = values.map(v => v.filter(p => p != null).length).join(',')
    }
    const topics = [`drawn:${data.table}`, data.best && `drawn:${data.best[0]}`, data.at].filter(Boolean)
    wiki.listen(memory, topics.map(name => [name, draw]))
    draw()
  }
})()
