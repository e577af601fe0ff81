// Parts of the error-budget chapter: two sliders as one position, a number line, a fold of choices, a vector.
// Positions and levels were decided in Python; here they are only laid out.
'use strict'
;(() => {
  const { wiki } = window
  const { el, svg } = wiki
  let ids = 0

  // The position of two controls together; tables with a frame for every pair follow it.
  wiki.parts.pair = (root, data, memory) => {
    root.hidden = true
    const set = () => {
      const [a, b] = data.topics.map(t => wiki.bus.get(t))
      wiki.bus.set(data.topic, Math.min(a ?? 0, data.sizes[0] - 1) * data.sizes[1] + Math.min(b ?? 0, data.sizes[1] - 1))
    }
    wiki.listen(memory, data.topics.map(t => [t, set]))
    set()
  }

  // As many marks of a kind as there are places, the ones that stand moved and not made anew.
  const place = (group, tag, fixed, places) => {
    while (group.children.length > places.length) group.lastChild.remove()
    places.forEach((at, i) => {
      const node = group.children[i] ?? group.appendChild(svg(tag, fixed))
      for (const [name, value] of Object.entries(at)) if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
    })
  }

  // One path for all levels of a view, in percent across and pixels down: two hundred lines would be two hundred elements.
  const lanes = (view, rise) => {
    const y = view.lanes.map((_, n) => n * (64 - rise) - rise)
    const points = view.lanes.flatMap((lane, n) => lane.points.map(([from, to, shown]) => ({ from, to, shown, y: y[n] })))
    return {
      height: view.lanes.length * (64 - rise) + 2,
      axis: y.map(top => `M0 ${top + 46}H100`).join(''),
      level: view.lanes.flatMap((lane, n) => lane.grid.map(at => `M${at} ${y[n] + 39}V${y[n] + 53}`)).join(''),
      snap: points.map(p => `M${p.from} ${p.y + 14}L${p.to} ${p.y + 46}`).join(''),
      values: points.map(p => ({ cx: `${p.from}%`, cy: p.y + 14 })),
      restored: points.filter(p => p.shown).map(p => ({ x: `${p.to}%`, y: p.y + 46 })),
    }
  }

  const PATHS = ['axis', 'level', 'snap']

  wiki.parts.numberline = (root, data, memory) => {
    const boxes = data.views.map(v => {
      const paths = PATHS.map(name => svg('path', { class: `wiki-line-${name}` }))
      const lines = svg('svg', { width: '100%', preserveAspectRatio: 'none' }), values = svg('g'), restored = svg('g')
      lines.append(...paths)
      const box = svg('svg', { width: '100%', role: 'img', 'aria-label': v.alt, class: 'wiki-line' })
      box.append(lines, values, restored)
      const scale = el('div', { class: 'wiki-line-scale', 'aria-hidden': 'true' }, el('span'), el('span'), el('span'))
      return { box, lines, paths, values, restored, scale, title: el('p', { class: 'wiki-line-title' }, v.title) }
    })
    const legend = el('p', { class: 'wiki-line-legend' }, data.legend.map(([mark, text]) => el('span', {}, el('i', { 'data-mark': mark, 'aria-hidden': 'true' }), text)))
    root.replaceChildren(legend, ...boxes.flatMap(b => [b.title, b.box, b.scale]), el('p', { class: 'wiki-help', html: data.note }))
    const show = index => {
      const frame = data.frames[Math.min(index ?? 0, data.frames.length - 1)]
      boxes.forEach(({ box, lines, paths, values, restored, scale }, i) => {
        const drawn = lanes(frame[i], data.points === false ? 26 : 0)
        if (box.getAttribute('height') !== String(drawn.height)) {
          for (const node of [box, lines]) node.setAttribute('height', drawn.height)
          lines.setAttribute('viewBox', `0 0 100 ${drawn.height}`)
        }
        PATHS.forEach((name, n) => { if (paths[n].getAttribute('d') !== drawn[name]) paths[n].setAttribute('d', drawn[name]) })
        place(values, 'circle', { r: 5, class: 'wiki-line-value' }, drawn.values)
        place(restored, 'rect', { width: 9, height: 9, class: 'wiki-line-restored' }, drawn.restored)
        ;[...scale.children].forEach((span, n) => { if (span.textContent !== frame[i].ends[n]) span.textContent = frame[i].ends[n] })
      })
      root.dataset.levels = frame[0].lanes.map(l => l.grid.length).join(',')
      root.dataset.frame = index ?? 0
    }
    wiki.listen(memory, [[data.topic, show]])
    show(wiki.bus.get(data.topic))
  }

  // A fold of choices; each is the ordinary choice part with a memory of its own.
  wiki.parts.settings = (root, data, memory, first) => {
    if (first) {
      memory.fold = el('details', { class: 'wiki-fold', open: data.open })
      memory.title = el('summary')
      memory.boxes = data.choices.map(() => el('div', { class: 'wiki-setting' }))
      memory.own = data.choices.map(() => ({ off: [] }))
      memory.fold.append(memory.title, ...memory.boxes)
      root.replaceChildren(memory.fold)
    }
    memory.title.textContent = data.title
    data.choices.forEach((c, i) => {
      memory.own[i].trigger = (_, value) => memory.trigger('value', { name: c.name, value })
      wiki.parts.choice(memory.boxes[i], c, memory.own[i])
    })
  }

  const LONG = 20_000                                      // letters; a longer list that cannot be used is only counted

  // A list of numbers as text. The server judges it; what it cannot use stays as typed beside the reasons.
  wiki.parts.vector = (root, data, memory, first) => {
    const w = data.words
    if (first) {
      const id = `wiki-vector-${ids++}`
      memory.area = el('textarea', { rows: 3, id, spellcheck: false, 'aria-describedby': `${id}-note ${id}-help` })
      memory.note = el('div', { class: 'wiki-error', role: 'alert', id: `${id}-note` })
      memory.fold = el('details', { class: 'wiki-fold', open: data.open })
      memory.help = el('p', { class: 'wiki-help', id: `${id}-help` })
      memory.label = el('label', { for: id })
      memory.button = el('button', { type: 'button', class: 'wiki-button' })
      memory.title = el('summary')
      memory.fold.append(memory.title, memory.help, el('div', { class: 'wiki-vector wiki-paste' }, el('div', {}, memory.label, memory.area, memory.note)), memory.button)
      root.replaceChildren(memory.fold)
    }
    memory.title.textContent = data.title
    memory.label.textContent = w.label
    memory.help.innerHTML = data.help
    if (data.text != null && memory.shown !== data.text) memory.area.value = memory.shown = data.text   // null: as typed
    memory.button.textContent = w.use
    memory.button.disabled = false
    memory.button.onclick = () => {
      const text = memory.area.value
      const count = wiki.count(text)
      memory.button.disabled = true
      memory.button.textContent = w.working
      memory.trigger('edit', count > data.most && text.length > LONG ? { count } : { text })   // a huge list is counted here, not sent
    }
    // One far too long is not even put into the field: that alone would hold the page for half a minute.
    memory.area.onpaste = e => {
      const text = e.clipboardData.getData('text'), count = wiki.count(text)
      if (count <= data.most || text.length <= LONG) return
      e.preventDefault()
      memory.button.disabled = true
      memory.button.textContent = w.working
      memory.trigger('edit', { count })
    }
    memory.area.setAttribute('aria-invalid', data.problems.length ? 'true' : 'false')
    memory.note.replaceChildren(...data.problems.map(text => el('p', {}, text)))
    if (data.problems.length) memory.fold.open = true
    root.dataset.problems = data.problems.length
    root.dataset.tries = data.tries
  }
})()
