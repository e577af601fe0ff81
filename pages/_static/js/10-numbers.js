// Numbers arrive as "decimal|exact|short"; nothing is calculated here, only laid out.
'use strict'
;(() => {
  const { wiki } = window
  const cell = text => {
    if (text == null) return null
    const [decimal, exact, short] = text.split('|')
    return { decimal, exact, short: short || decimal }
  }

  const float = text => {                                   // for the length of a bar, never for a printed number
    const [n, d] = text.replaceAll('−', '-').split('/').map(Number)
    return d ? n / d : n
  }

  const escaped = text => text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c])

  const tex = short => {
    const minus = short.startsWith('−'), body = minus ? short.slice(1) : short
    const [n, d] = body.split('/')
    const plain = d ? `\\frac{${n}}{${d}}` : body.replace('∞', '\\infty')
    return minus ? `\\left(-${plain}\\right)` : plain
  }

  const mathml = short => {
    const minus = short.startsWith('−'), body = minus ? short.slice(1) : short
    const [n, d] = body.split('/')
    const plain = d ? `<mfrac><mn>${n}</mn><mn>${d}</mn></mfrac>` : `<mn>${body}</mn>`
    return minus ? `<mrow><mo>(</mo><mo>−</mo>${plain}<mo>)</mo></mrow>` : plain
  }

  // A formula with slots ⟦name⟧, ⟦name#row⟧ or ⟦row⟧: once as MathML, once as TeX in alttext.
  const fill = (template, value) => template
    .replace(/<mtext>⟦([^⟧]+)⟧<\/mtext>/g, (_, slot) => {
      const found = value(slot)
      return slot === 'row' ? `<mtext>${escaped(found)}</mtext>` : found == null ? '<mtext>∅</mtext>' : mathml(found)
    })
    .replace(/\\text\{⟦([^⟧]+)⟧\}/g, (_, slot) => {
      const found = value(slot)
      return escaped(slot === 'row' ? `\\text{${found}}` : found == null ? '\\text{undefined}' : tex(found))
    })

  // Lists are separated by blanks and by the commas of either language.
  const count = text => (text.match(/[^\s,;，；、]+/g) ?? []).length
  const pasted = event => {                                 // a list in the clipboard, or null for what is none
    const parts = event.clipboardData.getData('text').trim().split(/[\s,;，；、]+/)
    if (parts.length < 2) return null
    event.preventDefault()
    return parts
  }

  Object.assign(wiki, { cell, float, fill, escaped, count, pasted })
})()
