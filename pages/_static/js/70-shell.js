// What a Streamlit page lacks: <html lang>, one live region, links that stay in this session.
'use strict'
;(() => {
  const { wiki } = window
  const { el } = wiki

  // The target of a link with #anchor arrives after the page has been drawn; wait for it, but not for ever.
  const settle = hash => {
    if (!hash) return
    let tries = 0
    const look = setInterval(() => {
      const target = document.getElementById(decodeURIComponent(hash.slice(1)))
      if (target || ++tries > 40) clearInterval(look)
      if (target) { target.scrollIntoView({ block: 'start' }); target.focus({ preventScroll: true }) }
    }, 100)
  }

  wiki.parts.shell = (root, data, memory, first) => {
    document.documentElement.lang = data.lang
    wiki.speak(data.words)
    document.querySelector('meta[name="description"]')?.setAttribute('content', data.description)
    if (!document.getElementById('wiki-live')) {
      document.body.append(el('div', { id: 'wiki-live', class: 'wiki-hidden', role: 'status', 'aria-live': 'polite' }))
    }
    if (data.say) wiki.announce(data.say)
    memory.known = data.pages
    if (first || data.scroll) settle(data.scroll || location.hash)
    if (!first) return
    const click = e => {
      const a = e.target.closest?.('a[href]')
      if (!a || e.defaultPrevented || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || e.button) return
      if (!a.closest('[data-testid="stMain"], dialog') || a.hasAttribute('download') || a.closest('[data-testid="stPageLink"]')) return
      const url = new URL(a.getAttribute('href'), location.href)
      if (url.origin !== location.origin) return
      const path = url.pathname.replace(/^\/|\/$/g, '')
      const here = location.pathname.replace(/^\/|\/$/g, '')
      if (a.getAttribute('href').startsWith('#') || (path === here && url.hash && !url.search)) {
        e.preventDefault()                                 // the page scrolls inside a container of its own
        const target = document.getElementById(decodeURIComponent(url.hash.slice(1)))
        target?.scrollIntoView({ block: 'start', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' })
        target?.focus({ preventScroll: true })
        return
      }
      if (!memory.known.includes(path)) return
      e.preventDefault()
      e.stopPropagation()
      a.closest('dialog')?.close()
      memory.trigger('go', { path, query: Object.fromEntries(url.searchParams), hash: url.hash })
    }
    document.addEventListener('click', click, true)
    memory.off.push(() => document.removeEventListener('click', click, true))
  }
})()
