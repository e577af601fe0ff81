// One window for the derivation of any number: a modal dialog, so focus and Esc are the browser's own.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki
  let box, opener

  const close = () => box.close()
  const outside = e => {
    const r = box.getBoundingClientRect()
    return e.target === box && (e.clientX < r.left || e.clientX > r.right || e.clientY < r.top || e.clientY > r.bottom)
  }
  const build = () => {
    box = el('dialog', { class: 'wiki-derivation', 'aria-labelledby': 'wiki-derivation-title' })
    let began   // whether the press began outside: a selection of text may end there
    box.onpointerdown = e => { began = outside(e) }
    box.onclick = e => { if (began && outside(e)) close() }
    box.onclose = () => { if (opener?.isConnected) opener.focus() }
    document.body.append(box)
  }

  const line = (label, content, name) => [el('dt', {}, label), el('dd', { 'data-line': name, html: content })]

  // d: {quantity, title, kind, general, substituted, condition, undefined, exact, decimal, unit, source, fn}
  wiki.derive = (d, from) => {
    if (!box) build()
    opener = from
    const w = wiki.words
    const lines = [
      ...(d.how ? line(w.how, wiki.escaped(d.how), 'how') : []),
      ...line(w.formula, d.general, 'general'),
      ...line(w.substituted, d.substituted, 'substituted'),
      ...(d.condition ? line(w.condition, d.condition, 'condition') : []),
      ...(d.undefined ? line(w.value, wiki.escaped(d.undefined), 'undefined') : []),
      ...(d.exact ? line(w.exact, wiki.escaped(d.exact), 'exact') : []),
      ...(d.decimal ? line(w.decimal, wiki.escaped(d.decimal) + (d.unit ? ` <span class="wiki-unit">${wiki.escaped(d.unit)}</span>` : ''), 'decimal') : []),
      ...line(w.source, d.source, 'source'),
      ...line(w.function, `<code>${wiki.escaped(d.fn)}</code>`, 'function'),
    ]
    box.dataset.quantity = d.quantity
    box.replaceChildren(
      el('header', {},
        el('h2', { id: 'wiki-derivation-title', html: d.title }),
        el('button', { type: 'button', class: 'wiki-close', 'aria-label': w.close, onclick: close }, '×')),
      el('p', { class: 'wiki-kind-line' },
        el('span', { class: 'wiki-kind', 'data-kind': d.kind }, w.kinds[d.kind][0]), ` ${w.kinds[d.kind][1]}`),
      el('dl', {}, ...lines))
    if (!box.open) box.showModal()
    for (const dd of box.querySelectorAll('dd')) if (dd.scrollWidth > dd.clientWidth) dd.tabIndex = 0   // long sums scroll
  }

  // n: {title, other, text}
  const define = (n, from) => {
    if (!box) build()
    opener = from
    delete box.dataset.quantity
    box.replaceChildren(
      el('header', {}, el('h2', { id: 'wiki-derivation-title', html: n.title }),
        el('button', { type: 'button', class: 'wiki-close', 'aria-label': wiki.words.close, onclick: close }, '×')),
      el('p', { class: 'wiki-kind-line', html: n.other }), el('p', { html: n.text }))
    if (!box.open) box.showModal()
  }

  // The second click of a double click was meant for what lies under the window that the first one has opened. It is
  // stopped before anything else hears of it, links included.
  window.addEventListener('click', e => {
    if (e.detail > 1 && box?.contains(e.target)) { e.stopImmediatePropagation(); e.preventDefault() }
  }, true)

  // Numbers and terms inside prose carry what they open as JSON.
  document.addEventListener('click', e => {
    const button = e.target.closest?.('[data-derive], [data-note]')
    if (button?.dataset.derive) wiki.derive(JSON.parse(button.dataset.derive), button)
    else if (button) define(JSON.parse(button.dataset.note), button)
  })
})()
