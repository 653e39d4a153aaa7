/** The frame inside the app: it shows the content that the app sends, and sends back the reader's actions. It fetches
 * and stores nothing. */
import { isRepeated, type Acted, type Field } from './actions'
import { typedOf } from './form-state'
import { PageDocument } from './document.ts'
import { readToFrame, type FromFrame, type ToFrame } from './protocol.ts'
import { listen } from './reader.ts'

const BUSY = 'data-outlast-busy'
const PRESSED_MS = 12_000

interface Waiting {
  element: HTMLElement
  name: string
  data: Record<string, unknown>
  fields: readonly Field[]
  since: number
}

/** `parents`: the origins whose messages are accepted. */
export function runShell(root: HTMLElement, parents: ReadonlySet<string>): void {
  const page = new PageDocument(root)
  const waiting = new Map<string, Waiting>()
  const listed = new Set<string>()
  let parent: string | null = null
  let readOnly = false
  let why: string | null = null
  let count = 0

  const send = (message: FromFrame): void => {
    // Until the first message of the app, its origin is unknown. Nothing sent before that is private.
    if (parent !== null) window.parent.postMessage(message, parent)
    else if (message.type === 'ready' || message.type === 'height') window.parent.postMessage(message, '*')
  }
  const act = (acted: Acted): void => {
    if (readOnly) return why === null ? undefined : send({ outlast: 'page', type: 'trouble', text: why })
    if (isRepeated(acted, waiting.values())) return
    const key = `${Date.now().toString(36)}.${(count += 1)}`
    const { element, name, data, handedIn } = acted
    waiting.set(key, { element, name, data, fields: handedIn, since: Date.now() })
    mark(root, waiting)
    for (const field of acted.handedIn) page.handedIn.set(field, typedOf(field))
    send({ outlast: 'page', type: 'action', key, name: acted.name, data: acted.data })
  }
  const onMessage = (message: ToFrame): void => {
    switch (message.type) {
      case 'html':
        page.show(message.html, message.version)
        mark(root, waiting)
        return send({ outlast: 'page', type: 'applied', version: page.version })
      case 'patches':
        page.patch(message.patches, message.base, message.version)
        mark(root, waiting)
        return send({ outlast: 'page', type: 'applied', version: page.version })
      case 'look':
        readOnly = message.readOnly
        why = message.why ?? null
        document.documentElement.dataset['theme'] = message.theme
        document.documentElement.toggleAttribute('data-read-only', readOnly)
        return
      case 'busy': {
        const open = new Set(message.keys)
        for (const [key, one] of waiting) if (!open.has(key) && isOver(key, one)) end(key, one)
        for (const key of open) listed.add(key)
        return mark(root, waiting)
      }
    }
  }
  /** The app has listed it before and no longer does; or it never did, because it refused the action. */
  const isOver = (key: string, { since }: Waiting): boolean => listed.has(key) || Date.now() - since > PRESSED_MS
  const end = (key: string, { fields }: Waiting): void => {
    waiting.delete(key)
    listed.delete(key)
    page.done(fields)
  }
  addEventListener('message', ({ data, source, origin }: MessageEvent) => {
    if (source !== window.parent || !parents.has(origin)) return
    const message = readToFrame(data)
    if (message === null) return
    parent = origin
    try {
      onMessage(message)
    } catch (error) {
      send({ outlast: 'page', type: 'lost', version: Math.max(0, page.version), why: String(error).slice(0, 500) })
    }
  })
  listen(root, {
    act,
    refuse: (text) => send({ outlast: 'page', type: 'trouble', text }),
    open: (href) => send({ outlast: 'page', type: 'open', href }),
    undo: () => send({ outlast: 'page', type: 'undo' }),
  })
  new ResizeObserver(() => send({ outlast: 'page', type: 'height', height: Math.ceil(root.scrollHeight) })).observe(
    root,
  )
  send({ outlast: 'page', type: 'ready' })
}

/** Marks elements whose action is not done yet, visually and for screen readers. */
function mark(root: HTMLElement, waiting: ReadonlyMap<string, { element: HTMLElement }>): void {
  const busy = new Set([...waiting.values()].map(({ element }) => element))
  for (const element of root.querySelectorAll(`[${BUSY}]`)) {
    if (busy.has(element as HTMLElement)) continue
    element.removeAttribute(BUSY)
    element.removeAttribute('aria-busy')
  }
  for (const element of busy) {
    element.setAttribute(BUSY, '')
    element.setAttribute('aria-busy', 'true')
  }
}
