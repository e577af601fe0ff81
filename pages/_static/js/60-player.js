// Step player: every step is already here, so stepping, scrubbing and playing never ask the server.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki
  const SPEEDS = [0.5, 1, 2]

  // Drawn, not typed: the glyphs for first and last are missing from many fonts.
  const icon = name => {
    const path = { first: 'M4 3v12M15 3 7 9l8 6z', previous: 'M13 3 5 9l8 6z', play: 'M5 3l10 6-10 6z', pause: 'M6 3v12M12 3v12',
      next: 'M5 3l8 6-8 6z', last: 'M14 3v12M3 3l8 6-8 6z' }[name]
    return `<svg viewBox="0 0 18 18" width="16" height="16" aria-hidden="true"><path d="${path}" fill="currentColor" stroke="currentColor" stroke-width="2" stroke-linejoin="round"/></svg>`
  }

  // Cells stay and change: new elements would cost the browser their style in every frame of a drag.
  const fill = (item, cell) => {
    const now = JSON.stringify(cell)
    if (item.shown === now) return
    item.shown = now
    item.dataset.state = cell.state
    item.title = cell.title
    item.firstChild.textContent = cell.text
    item.lastChild.textContent = ` ${cell.title}`
  }
  const trim = (box, count) => { while (box.children.length > count) box.lastChild.remove() }
  const draw = (stage, lanes) => {
    trim(stage, lanes.length)
    lanes.forEach((lane, i) => {
      const box = stage.children[i] ?? stage.appendChild(el('div', { class: 'wiki-lane', role: 'group' },
        el('span', { class: 'wiki-lane-label' }), el('ol', { class: 'wiki-tape' })))
      const tape = box.lastChild
      box.setAttribute('aria-label', lane.label)
      box.firstChild.textContent = lane.label
      trim(tape, lane.cells.length)
      lane.cells.forEach((cell, j) => fill(
        tape.children[j] ?? tape.appendChild(el('li', {}, el('span'), el('span', { class: 'wiki-hidden' }))), cell))
    })
  }

  wiki.parts.player = (root, data, memory, first) => {
    const { step, ...rest } = data
    const shape = JSON.stringify(rest)
    if (memory.shape === shape) return                     // the server repeats the step that it was told: keep the focus
    memory.shape = shape
    const w = data.words
    const steps = () => data.variants[wiki.bus.get(data.topic) ?? 0] ?? data.variants[0]
    if (first) memory.at = step
    const last = () => steps().length - 1
    const stop = () => { clearInterval(memory.timer); memory.timer = 0 }
    const save = () => { clearTimeout(memory.saving); memory.saving = setTimeout(() => memory.trigger('step', memory.at), 300) }

    const stage = el('div', { class: 'wiki-stage' })
    const caption = el('p', { class: 'wiki-caption', 'aria-live': 'polite' })
    const scrub = el('input', { type: 'range', min: 0, step: 1, 'aria-label': w.scrub })
    const count = el('output', { class: 'wiki-count' })
    const play = el('button', { type: 'button', class: 'wiki-play' })
    const show = () => {
      memory.at = Math.min(Math.max(0, memory.at), last())
      const s = steps()[memory.at]
      draw(stage, s.lanes)
      caption.innerHTML = s.caption
      scrub.max = last()
      scrub.value = memory.at
      scrub.setAttribute('aria-valuetext', caption.textContent)
      count.textContent = `${memory.at + 1} / ${last() + 1}`
      play.innerHTML = icon(memory.timer ? 'pause' : 'play')
      play.setAttribute('aria-label', memory.timer ? w.pause : w.play)
      root.dataset.step = memory.at
      root.dataset.event = s.event
    }
    const go = to => { stop(); memory.at = to; show(); save() }
    const toggle = () => {
      if (memory.timer) { stop(); show(); return save() }
      if (memory.at === last()) memory.at = 0
      memory.timer = setInterval(() => {
        memory.at += 1
        if (memory.at >= last()) { stop(); save() }
        show()
      }, 1100 / memory.speed)
      show()
    }
    memory.speed ??= 1
    const speed = el('select', { 'aria-label': w.speed, onchange: () => {
      memory.speed = Number(speed.value)
      if (memory.timer) { stop(); toggle() }
    } }, SPEEDS.map(s => el('option', { value: s, selected: s === memory.speed }, `${s}×`)))
    const key = (label, text, to) => el('button', { type: 'button', 'aria-label': label, title: label, html: icon(text), onclick: () => go(to()) })
    play.onclick = toggle
    scrub.oninput = () => go(Number(scrub.value))
    root.replaceChildren(stage, caption, el('div', { class: 'wiki-transport', role: 'group', 'aria-label': w.transport },
      key(w.first, 'first', () => 0), key(w.previous, 'previous', () => memory.at - 1), play,
      key(w.next, 'next', () => memory.at + 1), key(w.last, 'last', last), scrub, count, speed))
    root.onkeydown = e => {
      if (e.altKey || e.ctrlKey || e.metaKey || e.target === speed) return
      if (e.key === ' ' && e.target.tagName === 'BUTTON' && e.target !== play) return   // Space presses that button
      const to = { ArrowLeft: memory.at - 1, ArrowRight: memory.at + 1, Home: 0, End: last() }[e.key]
      if (e.key === ' ') toggle()
      else if (to !== undefined) go(to)
      else return
      e.preventDefault()
    }
    wiki.listen(memory, [[data.topic, () => { stop(); show() }]])
    memory.off.push(stop)
    show()
  }
})()
