/**
 * A page kept up to date with its thread's stream. The whole HTML is read from the server, then patches are applied. A
 * patch for another version is either old, or follows patches that were missed: then the page is read again. So is a
 * page that was read before the stream started, as it may lack what changed in between.
 */
import type { OutlastEvent, PagePatch } from './api.gen.ts'

/** A change for a page's viewer: new HTML to show, or patches to apply. */
export type PageChange =
  | { kind: 'html'; version: number; html: string }
  | { kind: 'patches'; base: number; version: number; patches: readonly PagePatch[] }

/** The effect of an event on a page at `version`: a change, nothing, or 'read' to read the page again. Pure. */
export function pageChangeOf(event: OutlastEvent, pageId: string, version: number): PageChange | 'read' | null {
  if (event.event === 'page.patch') {
    const { page_id, base_version, version: next, patches } = event.data
    if (page_id !== pageId || next <= version) return null
    return base_version === version ? { kind: 'patches', base: version, version: next, patches } : 'read'
  }
  if (event.event === 'page.html') {
    const { page_id, version: next, html, reason } = event.data
    if (page_id !== pageId) return null
    // A repeated step uses its version numbers again, so the page is read from the server.
    if (reason === 'reset') return 'read'
    return next > version ? { kind: 'html', version: next, html } : null
  }
  return null
}

interface Source {
  pageId: string
  read: (signal: AbortSignal) => Promise<{ version: number; html: string }>
  listen: (listener: (event: OutlastEvent) => void) => () => void
  listenSnapshots: (listener: (noun: 'projects' | 'threads', id: string) => void) => () => void
}

export interface LivePageState {
  version: number
  loading: boolean
  error: Error | null
  /** The number of changes since the page was opened. */
  changes: number
}

type Listener = (change: PageChange) => void

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

/** Feeds viewers of the page: first the whole HTML, then each change. */
export class LivePage {
  #state: LivePageState = { version: -1, loading: true, error: null, changes: 0 }
  /** The whole HTML, or null once a patch has changed it. */
  #html: string | null = null
  #reading: AbortController | null = null
  #missed: OutlastEvent[] = []
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #stop: (() => void) | null = null
  readonly #showers = new Set<Listener>()
  readonly #watchers = new Set<() => void>()

  constructor(readonly source: Source) {}

  get = (): LivePageState => this.#state

  subscribe = (listener: () => void): (() => void) => {
    this.#watchers.add(listener)
    return () => this.#watchers.delete(listener)
  }

  start(): void {
    if (this.#stop !== null) return
    const deaf = this.source.listen((event) => this.#onEvent(event))
    const stop = this.source.listenSnapshots((noun) => noun === 'threads' && this.reread())
    this.#stop = () => (deaf(), stop())
    this.reread()
  }

  stop(): void {
    this.#stop?.()
    this.#stop = null
    this.#reading?.abort()
    this.#reading = null
    clearTimeout(this.#timer)
  }

  /** Calls `show` with the whole page as soon as it is known, then with each change. Returns a function that stops
   * this. */
  attach(show: Listener): () => void {
    this.#showers.add(show)
    if (this.#html !== null) show({ kind: 'html', version: this.#state.version, html: this.#html })
    else this.reread()
    return () => this.#showers.delete(show)
  }

  /** Reads the whole page from the server, for instance after a gap. Cancels a read in progress. */
  reread = (): void => {
    if (this.#stop === null) return
    clearTimeout(this.#timer)
    this.#reading?.abort()
    const reading = new AbortController()
    this.#reading = reading
    this.source.read(reading.signal).then(
      ({ version, html }) => {
        if (reading.signal.aborted) return
        this.#reading = null
        this.#failures = 0
        this.#take({ kind: 'html', version, html })
        const missed = this.#missed
        this.#missed = []
        for (const event of missed) this.#onEvent(event)
      },
      (error: Error) => {
        if (reading.signal.aborted) return
        this.#reading = null
        this.#failures += 1
        this.#set({ error, loading: false })
        const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures)
        this.#timer = setTimeout(this.reread, pause)
      },
    )
  }

  #onEvent(event: OutlastEvent): void {
    if (event.event !== 'page.patch' && event.event !== 'page.html') return
    if (event.data.page_id !== this.source.pageId) return
    if (this.#reading !== null) {
      this.#missed.push(event)
      return
    }
    const change = pageChangeOf(event, this.source.pageId, this.#state.version)
    if (change === 'read') this.reread()
    else if (change !== null) this.#take(change)
  }

  #take(change: PageChange): void {
    this.#html = change.kind === 'html' ? change.html : null
    this.#set({ version: change.version, loading: false, error: null, changes: this.#state.changes + 1 })
    for (const show of [...this.#showers]) show(change)
  }

  #set(change: Partial<LivePageState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of [...this.#watchers]) listener()
  }
}
