// Runs before Streamlit draws anything: window.wiki is what every component stub calls.
'use strict'
window.wiki = (() => {
  const RETRY_MS = 2500
  const parts = {}, topics = new Map(), values = new Map(), tables = new Map()

  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag)
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value == null) continue
      if (name === 'html') node.innerHTML = value          // only ever text that our own Python escaped
      else if (name.startsWith('on')) node[name] = value
      else node.setAttribute(name, value === true ? '' : value)
    }
    node.append(...children.flat().filter(c => c != null))
    return node
  }

  const svg = (tag, attributes = {}, text = '') => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', tag)
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
    node.textContent = text
    return node
  }

  // Values that live in the browser: a control sets one, whatever depends on it listens. No server is asked.
  const bus = {
    get: topic => values.get(topic),
    set(topic, value) {
      if (values.get(topic) === value) return
      values.set(topic, value)
      for (const listen of topics.get(topic) ?? []) listen(value)
    },
    on(topic, listen) {
      if (!topics.has(topic)) topics.set(topic, new Set())
      topics.get(topic).add(listen)
      return () => topics.get(topic).delete(listen)
    },
  }

  // The shell brings the words that every part uses. A block that is quicker than the shell waits for it.
  const held = new Map()
  let spoken = false
  const speak = words => {
    wiki.words = words
    spoken = true
    for (const waiting of held.values()) place(...waiting)
    held.clear()
  }

  // A part is called again with each new set of data; `root.wiki` keeps what it remembers in between. What it sends are
  // triggers: a component's *state* is only reported when it differs from the last one sent, and the server may have
  // changed the control in between.
  const place = (root, name, text, trigger) => {
    if (!spoken && name !== 'shell') return held.set(root, [root, name, text, trigger])
    const first = !root.wiki
    const memory = root.wiki ??= { off: [] }
    memory.trigger = trigger
    if (memory.text === text) return                       // a rerun with equal data changes nothing on screen
    memory.text = text
    root.dataset.part = name
    parts[name](root, JSON.parse(text), memory, first)
  }
  const dispose = root => {
    for (const off of root.wiki?.off ?? []) off()
    for (const child of root.wiki?.children?.values() ?? []) dispose(child)
    held.delete(root)
    root.wiki = undefined
  }
  const draw = (name, { data, parentElement, setTriggerValue }) => {
    const root = parentElement.querySelector('.wiki-part'), lines = new TextDecoder().decode(data).split('\n')
    if (name === 'block') block(root, lines, setTriggerValue)
    else place(root, name, lines[0], setTriggerValue)
    return () => dispose(root)
  }

  // Bring the children of `box` to `wanted` without moving a node that stays: moving one would take its focus away.
  const arrange = (box, wanted) => {
    for (const node of [...box.childNodes]) if (!wanted.includes(node)) node.remove()
    wanted.forEach((node, i) => { if (box.childNodes[i] !== node) box.insertBefore(node, box.childNodes[i] ?? null) })
  }

  // How a block speaks to the server. Of two triggers that reach it during one run it keeps the later, so each carries all
  // that it has not yet said it heard; and a message can get lost between two runs, so what stays unanswered while
  // nothing runs is said again. Numbers make hearing it twice harmless.
  const messenger = (memory, answer, trigger) => {
    memory.sender ??= `${Date.now()}-${Math.random()}`
    memory.number ??= 0
    const heard = answer?.sender === memory.sender ? answer.number : 0
    memory.waiting = (memory.waiting ?? []).filter(event => event.number > heard)
    if (!memory.off.length) memory.off.push(() => clearTimeout(memory.retry))
    const send = () => {
      trigger('events', { sender: memory.sender, events: memory.waiting })
      clearTimeout(memory.retry)
      memory.retry = setTimeout(repeat, RETRY_MS)
    }
    const repeat = () => {
      if (!memory.waiting.length) return
      const app = document.querySelector('[data-testid="stApp"]')
      if (app?.dataset.testScriptState === 'notRunning') send()
      else memory.retry = setTimeout(repeat, RETRY_MS)
    }
    return event => {
      memory.number += 1
      memory.waiting.push({ ...event, number: memory.number })
      send()
    }
  }

  // A block of a lesson: its parts in order, those of an instrument inside a frame. The first line says which, each
  // further line is the data of one.
  const block = (root, [head, ...texts], trigger) => {
    const data = JSON.parse(head), memory = root.wiki ??= { off: [] }
    root.dataset.part = 'block'
    const old = memory.children ?? new Map(), now = memory.children = new Map(), frames = memory.frames ??= []
    const top = [], inside = []
    let run = -1
    data.parts.forEach((p, i) => {
      const node = old.get(p.key) ?? el('div', { class: 'wiki-part', 'data-key': p.key })
      now.set(p.key, node)
      if (!p.framed) return top.push(node)
      if (!data.parts[i - 1]?.framed) {
        run += 1
        frames[run] ??= el('div', { class: 'wiki-panel' })
        inside[run] = []
        top.push(frames[run])
      }
      inside[run].push(node)
    })
    for (const [key, node] of old) if (!now.has(key)) dispose(node)
    arrange(root, top)
    inside.forEach((nodes, i) => arrange(frames[i], nodes))
    const tell = messenger(memory, data.heard, trigger)
    data.parts.forEach((p, i) => {
      place(now.get(p.key), p.name, texts[i], (name, value) => tell({ key: p.key, name, value }))
    })
  }

  // Listen for as long as the component stands, replacing what it listened to with its earlier data.
  const listen = (memory, pairs) => {
    for (const off of memory.off) off()
    memory.off = pairs.filter(([topic]) => topic).map(([topic, f]) => bus.on(topic, f))
  }

  const announce = text => {
    const region = document.getElementById('wiki-live')
    if (region && region.textContent !== text) region.textContent = text
  }

  const copy = async (text, done) => {
    try { await navigator.clipboard.writeText(text) } catch {
      const area = el('textarea', { style: 'position:fixed;opacity:0' })   // no clipboard without https elsewhere
      area.value = text
      document.body.append(area)
      area.select()
      document.execCommand('copy')
      area.remove()
    }
    announce(done)
  }

  // Streamlit pushes a history entry for each change of the query. Back should leave the chapter, not undo a slider.
  const push = history.pushState.bind(history)
  history.pushState = (state, title, url) => {
    const there = url == null ? location : new URL(url, location.href)
    if (there.pathname === location.pathname) history.replaceState(state, title, url)
    else push(state, title, url)
  }

  // Streamlit tells a page that embeds it how it is doing. With nobody around it tells itself, three times a change, and
  // each time spends milliseconds on finding out whether it may listen.
  if (window.parent === window) {
    window.addEventListener('message', e => {
      if (e.source === window && e.data?.stCommVersion) e.stopImmediatePropagation()
    }, true)
  }

  document.addEventListener('click', e => {
    const button = e.target.closest?.('[data-copy-link]')
    if (!button) return
    copy(location.href, button.dataset.copyLink)
    button.dataset.label ??= button.textContent
    button.textContent = button.dataset.copyLink
    setTimeout(() => { button.textContent = button.dataset.label }, 1500)
  })

  // No line may begin with the punctuation after a number, a term or a formula: they break like words, so tie it to them.
  const tie = box => {
    for (const piece of box.querySelectorAll('.wiki-number, .wiki-term, math:not([display="block"])')) {
      const after = piece.nextSibling
      const mark = after?.nodeType === 3 && /^[。，、；：）！？.,;:)]+/.exec(after.data)?.[0]
      if (!mark) continue
      after.data = after.data.slice(mark.length)
      const tied = el('span', { class: 'wiki-tie' })
      piece.before(tied)
      tied.append(piece, mark)
    }
  }

  // A formula that is wider than the screen scrolls, and what scrolls has to be in reach of the keyboard.
  const scrolling = new ResizeObserver(entries => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0')
      else target.removeAttribute('tabindex')
    }
  })

  parts.prose = (root, data) => {
    const box = el('div', { class: 'wiki-prose', id: data.anchor || null, tabindex: data.anchor ? -1 : null, html: data.html })
    root.replaceChildren(box)
    for (const formula of box.querySelectorAll('math[display="block"]')) scrolling.observe(formula)
    tie(box)
  }

  // Streamlit has no attribute that tells the theme; the page's own background does.
  const theme = () => {
    const app = document.querySelector('[data-testid="stApp"]')
    const [r, g, b] = (app ? getComputedStyle(app).backgroundColor : '').match(/\d+/g)?.map(Number) ?? [255, 255, 255]
    const now = 0.3 * r + 0.6 * g + 0.1 * b < 128 ? 'dark' : 'light'
    if (document.documentElement.dataset.theme === now) return
    document.documentElement.dataset.theme = now
    bus.set('theme', now)
  }
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  // Watch the app's own class and nothing below it: reading a computed style after each change would cost a layout.
  new MutationObserver((_, waiting) => {
    const app = document.querySelector('[data-testid="stApp"]')
    if (!app) return
    waiting.disconnect()
    new MutationObserver(theme).observe(app, { attributes: true, attributeFilter: ['class', 'style'] })
    theme()
  }).observe(document.documentElement, { childList: true, subtree: true })

  const wiki = { parts, tables, words: {}, el, svg, bus, draw, listen, announce, copy, speak, tie }
  return wiki
})()
