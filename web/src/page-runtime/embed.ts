/** A page inside another site: read-only, updated by server-sent events until its link ends. */
import type { PagePatch } from '@outlast/sdk'
import { readFrames } from '../../../sdk/typescript/src/sse.ts'
import { PageDocument } from './document.ts'

/** The whole page, or the patches from version `base` to it. */
interface Change {
  version: number
  html?: string
  base?: number
  patches?: PagePatch[]
  title?: string
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** The server's heartbeat comes every 15 s. */
const SILENT_MS = 45_000

/** `shown`: the state of the document when it was loaded, from which the stream continues. */
export function runEmbed(root: HTMLElement, shown: string): void {
  const page = new PageDocument(root)
  page.version = Number.parseInt(shown, 10)
  inert(root)
  root.addEventListener('submit', (event) => event.preventDefault(), true)
  // The embedding site may fit its frame to the page.
  new ResizeObserver(() => tellHeight(root)).observe(root)
  void live(page, shown)
}

/** Follows the page until the link is no longer valid; reconnects after every break, with growing pauses. */
async function live(page: PageDocument, shown: string): Promise<void> {
  let after = shown
  for (let failures = 0; ; failures += 1) {
    const changed = (): void => {
      after = '' // after the first event, the next stream begins with the whole page
      failures = 0
    }
    if ((await follow(page, after, changed)) === 'ended') return end(page.root)
    const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
    await pause(most * (0.5 + Math.random() / 2))
  }
}

async function follow(page: PageDocument, after: string, changed: () => void): Promise<'ended' | 'broken'> {
  const silent = new AbortController()
  let silence = setTimeout(() => silent.abort(), SILENT_MS)
  try {
    const url = `${location.pathname}/events?after=${encodeURIComponent(after)}`
    const response = await fetch(url, { signal: silent.signal, credentials: 'omit', cache: 'no-store' })
    if (response.status === 404) return 'ended'
    if (!response.ok || response.body === null) return 'broken'
    for await (const frames of readFrames(response.body)) {
      clearTimeout(silence)
      silence = setTimeout(() => silent.abort(), SILENT_MS)
      for (const { data } of frames) {
        if (data === '') continue
        changed()
        show(page, JSON.parse(data) as Change)
      }
    }
  } catch {
    // a network error, or a patch that did not apply: the next stream recovers from both
  } finally {
    clearTimeout(silence)
    silent.abort()
  }
  return 'broken'
}

function show(page: PageDocument, change: Change): void {
  if (change.html !== undefined) page.show(change.html, change.version)
  else page.patch(change.patches ?? [], change.base ?? -1, change.version)
  if (change.title !== undefined && change.title !== '') document.title = change.title
  inert(page.root)
}

const tellHeight = (root: HTMLElement): void =>
  window.parent.postMessage({ outlast: 'page', type: 'height', height: Math.ceil(root.scrollHeight) }, '*')

/** The page is read-only: buttons and fields are disabled. */
function inert(root: HTMLElement): void {
  for (const element of root.querySelectorAll('button, input, select, textarea, [data-action]')) {
    if (!(element instanceof HTMLElement) || element instanceof HTMLFormElement) continue
    element.setAttribute('aria-disabled', 'true')
    if ('disabled' in element) element.disabled = true
  }
}

function end(root: HTMLElement): void {
  const note = document.createElement('p')
  note.className = 'outlast-note'
  note.setAttribute('role', 'status')
  note.textContent = 'This link no longer works: it was revoked, it expired, or its page was deleted.'
  root.replaceChildren(note)
  document.documentElement.setAttribute('data-ended', '')
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
