/**
 * A document kept in step with the project's stream: read once, then asked for what is new since the version that one has.
 * What did not change stays the same object, so that a change draws its block and no other.
 */
import type { DocumentChanges, DocumentData, DocumentView, OutlastEvent, SectionData } from '@outlast/sdk'

export interface DocumentState {
  /** null until loaded. */
  document: DocumentData | null
  sections: readonly SectionData[]
  version: number
  error: Error | null
  /** Somebody deleted it. */
  gone: boolean
}

export interface DocumentSource {
  documentId: string
  read: (signal: AbortSignal) => Promise<DocumentView>
  changes: (since: number, signal: AbortSignal) => Promise<DocumentChanges>
  listen: (listener: (event: OutlastEvent) => void) => () => void
}

const NOTHING: DocumentState = { document: null, sections: [], version: -1, error: null, gone: false }
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000

export class DocumentStore {
  #state = NOTHING
  #asking: AbortController | null = null
  #again = false
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #stop: (() => void) | null = null
  readonly #listeners = new Set<() => void>()

  constructor(readonly source: DocumentSource) {}

  get = (): DocumentState => this.#state

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): void {
    if (this.#stop !== null) return
    this.#stop = this.source.listen((event) => this.#hear(event))
    this.catchUp()
  }

  stop(): void {
    this.#stop?.()
    this.#stop = null
    this.#asking?.abort()
    this.#asking = null
    clearTimeout(this.#timer)
  }

  /** Asks for what is new; while an answer is on its way, once more after it. */
  catchUp = (): void => {
    if (this.#stop === null) return
    if (this.#asking !== null) {
      this.#again = true
      return
    }
    clearTimeout(this.#timer)
    const asking = new AbortController()
    this.#asking = asking
    const { document, version } = this.#state
    const asked =
      document === null
        ? this.source.read(asking.signal).then((view) => this.#take(view))
        : this.source.changes(version, asking.signal).then((changes) => this.apply(changes))
    asked.then(
      () => this.#asked(asking, null),
      (error: Error) => this.#asked(asking, error),
    )
  }

  /** Makes what the server answered part of the document. An answer that leaves out versions is asked for again. */
  apply = (changes: DocumentChanges): void => {
    if (changes.version < this.#state.version) return
    const sections = applied(this.#state.sections, changes)
    this.#set({ sections, version: changes.version })
  }

  /** Shows at once what was asked of the server; its answer, or `refresh`, says how it is. */
  expect = (sections: readonly SectionData[]): void => this.#set({ sections })

  put = (document: DocumentData): void => this.#set({ document })

  /** Reads the whole document again. */
  refresh = async (): Promise<void> => {
    const view = await this.source.read(new AbortController().signal)
    if (view.version >= this.#state.version) this.#take(view)
  }

  #take(view: DocumentView): void {
    const { sections, ...document } = view
    this.#set({ document, sections: reused(this.#state.sections, sections), version: view.version, error: null })
  }

  #asked(asking: AbortController, error: Error | null): void {
    if (asking.signal.aborted) return
    this.#asking = null
    if (error !== null) {
      this.#failures += 1
      this.#set({ error })
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures)
      this.#timer = setTimeout(this.catchUp, pause)
      return
    }
    this.#failures = 0
    if (this.#state.error !== null) this.#set({ error: null })
    if (!this.#again) return
    this.#again = false
    this.catchUp()
  }

  #hear(event: OutlastEvent): void {
    const id = this.source.documentId
    switch (event.event) {
      case 'document.updated':
        if (event.data.document.id === id) this.#set({ document: event.data.document })
        return
      case 'document.deleted':
        if (event.data.document_id === id) this.#set({ gone: true })
        return
      case 'version.created':
        if (event.data.version.document_id === id && event.data.version.version > this.#state.version) this.catchUp()
        return
      case 'lock.acquired':
      case 'lock.released':
      case 'lock.requested':
      case 'lock.handed_over':
      case 'lock.taken_over': {
        const { section_id, lock } = event.data
        if (event.data.document_id !== id) return
        this.#set({ sections: this.#state.sections.map((one) => (one.id === section_id ? { ...one, lock } : one)) })
      }
    }
  }

  #set(change: Partial<DocumentState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of [...this.#listeners]) listener()
  }
}

/** The sections with what the server said that changed. Pure; unchanged sections and blocks stay the same objects. */
export function applied(sections: readonly SectionData[], changes: DocumentChanges): SectionData[] {
  const removed = new Set(changes.removed)
  const blocks = new Map(sections.flatMap((section) => section.blocks).map((block) => [block.id, block]))
  for (const block of changes.blocks) blocks.set(block.id, block)
  const before = new Map(sections.map((section) => [section.id, section]))
  const heads = new Map(changes.sections.map((section) => [section.id, section]))
  const order = changes.section_order ?? sections.map(({ id }) => id).filter((id) => !removed.has(id))
  const moved = new Set(Object.values(changes.block_order).flat())
  return order.flatMap((id) => {
    const old = before.get(id)
    const head = heads.get(id) ?? old
    if (head === undefined) return []
    const named = changes.block_order[id]
    const ids =
      named ?? (old?.blocks ?? []).map((block) => block.id).filter((one) => !removed.has(one) && !moved.has(one))
    const now = ids.flatMap((one) => blocks.get(one) ?? [])
    const same = old !== undefined && heads.get(id) === undefined && sameItems(old.blocks, now)
    return [same ? old : { ...head, blocks: same ? old.blocks : now }]
  })
}

const sameItems = <T>(one: readonly T[], other: readonly T[]): boolean =>
  one.length === other.length && one.every((item, place) => item === other[place])

/** The sections as read, with the objects that one already had where nothing changed. */
function reused(old: readonly SectionData[], fresh: readonly SectionData[]): SectionData[] {
  const blocks = new Map(old.flatMap((section) => section.blocks).map((block) => [block.id, block]))
  return fresh.map((section) => ({
    ...section,
    blocks: section.blocks.map((block) => {
      const known = blocks.get(block.id)
      return known?.version === block.version && known.section_id === block.section_id ? known : block
    }),
  }))
}
