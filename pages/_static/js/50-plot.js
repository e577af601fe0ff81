// Plotly, loaded once from this server and updated in place. The numbers are those of the table named in the data.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki
  let loading
  const load = url => loading ??= new Promise((ok, no) => {
    document.head.append(el('script', { src: url, onload: () => ok(window.Plotly), onerror: no }))
  })

  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  // Each kind of mass has one colour *and* one mark, on every chart.
  const MARK = { target: '', draft: '', accepted: '', corrected: '/', rejected: 'x', output: '', simulated: '.' }
  const marker = role => {
    const ink = css(`--${role}`), hollow = role === 'draft'
    return { color: hollow ? css('--surface') : ink, line: { color: ink, width: hollow ? 2 : 1 },
      pattern: { shape: MARK[role], fgcolor: css('--surface'), bgcolor: ink, size: 7, solidity: 0.35 } }
  }

  const numbers = (table, column) => wiki.numbers(table, column).map(v => v ?? 0)

  const outline = role => ({ color: 'rgba(0,0,0,0)', line: { color: css(`--${role}`), width: 3 } })

  const traces = data => data.traces.map(t => {
    const table = wiki.tables.get(t.table ?? data.table), y = numbers(table, t.column)
    return {
      type: 'bar', name: t.label, x: table.data.rows, y, offsetgroup: t.group, marker: t.outline ? outline(t.role) : marker(t.role), showlegend: !t.quiet,
      base: t.base ? numbers(table, t.base) : undefined, customdata: table.data.rows.map(wiki.escaped), hovertemplate: `%{customdata} · ${t.label}: %{y:.6f}<extra></extra>`,
      error_y: t.high ? { type: 'data', symmetric: false, color: css('--ink'), thickness: 1.5,
        array: numbers(table, t.high).map((h, i) => h - y[i]), arrayminus: numbers(table, t.low).map((l, i) => y[i] - l) } : undefined,
    }
  })

  const names = data => wiki.tables.get(data.table).data.rows   // a token may be called <b>: Plotly reads names as markup

  const layout = data => ({
    barmode: 'group', bargap: 0.28, bargroupgap: 0.06, height: data.height ?? 320, margin: { l: 48, r: 12, t: 8, b: 40, ...data.room },
    paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', uirevision: data.table,
    font: { family: css('--font'), size: 14, color: css('--ink') }, hoverlabel: { font: { family: css('--font') } },
    legend: { orientation: 'h', y: 1.02, yanchor: 'bottom', x: 0 },
    xaxis: { type: 'category', tickvals: names(data), ticktext: names(data).map(wiki.escaped), fixedrange: true, automargin: true, linecolor: css('--rule') },
    yaxis: { rangemode: 'tozero', range: data.range, fixedrange: true, gridcolor: css('--rule'), zerolinecolor: css('--rule'), title: { text: data.axis } },
  })

  wiki.parts.plot = (root, data, memory, first) => {
    if (first) {
      memory.figure = el('div', { class: 'wiki-plot', role: 'figure' })
      memory.note = el('p', { class: 'wiki-help' })
      root.replaceChildren(memory.figure, memory.note)
    }
    memory.figure.setAttribute('aria-label', data.alt)
    memory.figure.style.minHeight = `${data.height ?? 320}px`
    memory.note.innerHTML = data.note
    const react = () => {
      memory.waiting = false
      if (!window.Plotly || !root.isConnected || !wiki.tables.has(data.table)) return
      window.Plotly.react(memory.figure, traces(data), layout(data), { responsive: true, displayModeBar: false })
        .then(() => { root.dataset.drawn = String(1 + Number(root.dataset.drawn ?? 0)) })
    }
    // When the browser has nothing else to do: the number under the hand never waits for its picture.
    const idle = window.requestIdleCallback ?? (f => setTimeout(f, 60))
    const later = () => { if (!memory.waiting) { memory.waiting = true; requestAnimationFrame(() => idle(react, { timeout: 150 })) } }
    wiki.listen(memory, [['theme', later], ...new Set([data.table, ...data.traces.map(t => t.table)])].map(x => Array.isArray(x) ? x : [x && `drawn:${x}`, later]))
    if (window.Plotly) later()
    else {
      const seen = new IntersectionObserver(entries => {
        if (entries.some(e => e.isIntersecting)) { seen.disconnect(); load(data.plotly).then(later) }
      }, { rootMargin: '400px' })
      seen.observe(root)
      memory.off.push(() => seen.disconnect())
    }
  }
})()
