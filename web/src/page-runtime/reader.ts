/** A reader's actions in a page's document: acting on it, following links, undoing. */
import { ofChange, ofClick, ofSubmit, type Acted, type Refused } from './actions'
import { safeLink } from './protocol.ts'

interface Reader {
  act: (acted: Acted) => void
  refuse: (why: string) => void
  open: (href: string) => void
  undo: () => void
}

const EDITABLE = /^(INPUT|TEXTAREA|SELECT)$/

/** Listens until the document is unloaded. Nothing in it navigates, whatever its HTML contains. */
export function listen(root: HTMLElement, reader: Reader): void {
  const report = (acted: Acted | Refused | null): boolean => {
    if (acted === null) return false
    if ('refused' in acted) reader.refuse(acted.refused)
    else reader.act(acted)
    return true
  }
  root.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href], area[href]') : null
    if (report(ofClick(event.target))) return event.preventDefault()
    if (link !== null) follow(event, link, reader)
  })
  root.addEventListener('auxclick', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href], area[href]') : null
    if (link !== null) follow(event, link, reader)
  })
  root.addEventListener('submit', (event) => {
    event.preventDefault()
    if (event.target instanceof HTMLFormElement) report(ofSubmit(event.target, event.submitter))
  })
  root.addEventListener('change', (event) => {
    report(ofChange(event.target))
  })
  addEventListener('keydown', (event) => {
    const mod = event.metaKey || event.ctrlKey
    if (!mod || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'z') return
    const held = document.activeElement
    if (held !== null && EDITABLE.test(held.tagName)) return
    event.preventDefault()
    reader.undo()
  })
}

/** A link within the page is followed here; the embedding app opens any other link. */
function follow(event: MouseEvent, link: Element, reader: Reader): void {
  event.preventDefault()
  const href = link.getAttribute('href') ?? ''
  if (href.startsWith('#')) {
    const target = href === '#' ? document.body : document.getElementById(decodeURIComponent(href.slice(1)))
    target?.scrollIntoView({ behavior: 'smooth', block: 'start' })
    return
  }
  const safe = safeLink(href)
  if (safe !== null) reader.open(safe)
}
