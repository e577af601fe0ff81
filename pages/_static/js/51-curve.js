// A chart small enough to need no library.
'use strict'
;(() => {
  const { wiki } = window
  const { el, svg } = wiki

  // A curve over a table's rows, marked where it is lowest; straight pieces, so that it can be laid out in percent.
  wiki.parts.curve = (root, data, memory) => {
    const box = svg('svg', { width: '100%', height: 220, role: 'img', 'aria-label': data.alt, class: 'wiki-curve' })
    const foot = el('div', { class: 'wiki-line-scale', 'aria-hidden': 'true' })
    root.replaceChildren(el('p', { class: 'wiki-line-title' }, data.axis), box, foot, el('p', { class: 'wiki-help', html: data.note }))
    const draw = () => {
      const found = wiki.tables.get(data.table)
      if (!found) return
      const names = wiki.cells(found, data.x), up = wiki.numbers(found, data.y)
      const points = wiki.numbers(found, data.x).map((x, i) => [x, up[i]])
      const [low, high] = [Math.min(...points.map(p => p[0])), Math.max(...points.map(p => p[0]))]
      const top = Math.max(...points.map(p => p[1])) || 1
      const at = ([x, y]) => [3 + 94 * (x - low) / (high - low || 1), 205 - 190 * y / top]
      const line = [...points].sort((a, b) => a[0] - b[0]).map(at)
      const least = points.reduce((best, p, i) => p[1] < points[best][1] ? i : best, 0)
      box.replaceChildren(svg('line', { x1: '0%', x2: '100%', y1: 205, y2: 205, class: 'wiki-line-axis' }))
      line.slice(1).forEach(([x, y], i) => box.append(svg('line', { x1: `${line[i][0]}%`, y1: line[i][1], x2: `${x}%`, y2: y, class: 'wiki-curve-piece' })))
      points.forEach((p, i) => { const [x, y] = at(p); box.append(svg('circle', { cx: `${x}%`, cy: y, r: i === least ? 7 : 3, class: i === least ? 'wiki-curve-least' : 'wiki-curve-point' })) })
      foot.replaceChildren(...[low, high].map(v => el('span', {}, names[points.findIndex(p => p[0] === v)].short)))
      root.dataset.least = least
    }
    wiki.listen(memory, [[`drawn:${data.table}`, draw]])
    draw()
  }
})()
