// Runs before Streamlit draws anything: window.wiki is what every component stub calls.
'use strict'
window.wiki = (() => {
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

  // A component is called again with each new set of data; `root.wiki` keeps what it remembers in between.
  // Everything is sent as a trigger: a component's *state* is only reported when it differs from the last one sent, and
  // the server may have changed the control in between.
  const draw = (name, { data, parentElement, setTriggerValue }) => {
    const root = parentElement.querySelector('.wiki-part')
    const first = !root.wiki
    const memory = root.wiki ??= { off: [] }
    memory.trigger = setTriggerValue
    const text = JSON.stringify(data)
    if (memory.text !== text) {                            // a rerun with equal data changes nothing on screen
      memory.text = text
      root.dataset.part = name
      parts[name](root, data, memory, first)
    }
    return () => { for (const off of memory.off) off(); root.wiki = undefined }
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

  document.addEventListener('click', e => {
    const button = e.target.closest?.('[data-copy-link]')
    if (!button) return
    copy(location.href, button.dataset.copyLink)
    const label = button.textContent
    button.textContent = button.dataset.copyLink
    setTimeout(() => { button.textContent = label }, 1500)
  })

  // Prose comes here and not through st.html, which strips formulas.
  parts.prose = (root, data) => { root.innerHTML = data.html }

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

  return { parts, tables, words: {}, el, bus, draw, listen, announce, copy }
})()
