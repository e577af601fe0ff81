// Unit strips: laws laid end to end from 0 to 1 and a mark where a uniform number falls. What each tick hits was
// decided in Python; here a bar only looks it up.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki

  // A bar may depend on what an earlier bar hit (`by`) and may be reached only in certain cases (`when`).
  const run = data => {
    const hits = {}
    return data.bars.map(bar => {
      const reached = !bar.when || bar.when.some(all => all.every(([id, part]) => hits[id] === part))
      const form = bar.forms[bar.by ? hits[bar.by] ?? 0 : 0]
      const tick = bar.topic ? wiki.bus.get(bar.topic) ?? 0 : null
      const hit = form.hits[tick ?? 0]
      if (reached) hits[bar.id] = hit
      return { bar, form, reached, hit, at: bar.topic ? data.ticks[tick] : bar.at }
    })
  }

  const strip = none => ({ bar, form, reached, hit, at }) => el('div', { class: 'wiki-strip-row', 'data-bar': bar.id, 'data-reached': String(reached), 'data-hit': reached ? form.parts[hit]?.name ?? '' : '' },
    el('div', { class: 'wiki-strip-label' }, el('span', { html: bar.label }), el('code', {}, `u = ${at}`)),
    el('div', { class: 'wiki-strip-bar' },
      form.parts.map((part, i) => el('span', { class: 'wiki-part-of', 'data-role': part.role, 'data-hit': String(reached && i === hit),
        style: `left:${part.from}%;width:${part.width}%`, title: `${part.name}: ${part.text}` }, el('b', {}, part.width > 5 ? part.name : ''))),
      el('span', { class: 'wiki-needle', style: `left:${100 * Number(at)}%`, 'aria-hidden': 'true' })),
    el('p', { class: 'wiki-strip-result', html: reached ? form.results[hit] : form.parts.length ? bar.unreached : none }))

  wiki.parts.strips = (root, data, memory) => {
    const box = el('div', { class: 'wiki-strips' }), outcome = el('p', { class: 'wiki-outcome', 'aria-live': 'polite' })
    root.replaceChildren(box, outcome)
    box.setAttribute('role', 'group')
    box.setAttribute('aria-label', data.alt)
    const show = () => {
      const done = run(data)
      box.replaceChildren(...done.map(strip(data.none)))
      const key = done.map(d => d.reached ? d.hit : '-').join(',')
      outcome.innerHTML = data.outcomes[key]
      root.dataset.outcome = outcome.querySelector('[data-output]')?.dataset.output ?? ''
    }
    wiki.listen(memory, data.bars.filter(b => b.topic).map(b => [b.topic, show]))
    show()
  }
})()
