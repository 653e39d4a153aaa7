/** The editing session of a document: one draft per block or heading, kept by the browser until the server has it. It
 * saves after a pause and when a block is left, sends the text that each draft started from, and keeps the text that
 * the server refuses.
 *
 * A draft's key is the block's id, `heading:` and a section's id, or the `ref` under which a new block will be
 * created. */
import {
  Conflict,
  Gone,
  TryLater,
  type DocumentChange,
  type DocumentChanges,
  type DocumentContent,
  type DocumentStore,
  type MergeHunk,
} from '@outlast/sdk'
import type { DraftStorage } from './drafts'
import { isOneBlock } from './block-types'

export interface Meeting {
  base: string
  current: string
  wanted: string
  hunks: readonly MergeHunk[]
}

type DraftState =
  | 'clean'
  /** Typed and about to be saved. */
  | 'typed'
  | 'saving'
  /** Another user changed the same words meanwhile: the writer decides. */
  | 'conflict'
  /** The server refused it; `problem` says why. */
  | 'refused'
  /** The server cannot be reached; saving is retried. */
  | 'offline'
  /** The block of the draft was deleted. */
  | 'gone'
  /** Recovered after a reload. */
  | 'found'

export interface Place {
  sectionId: string
  /** A block's id or a draft's key; null: first. */
  after: string | null
}

/** The state of a draft. A new object whenever it changes; not at each key press. */
export interface DraftStatus {
  key: string
  state: DraftState
  problem: Error | null
  meeting: Meeting | null
  place: Place | null
}

/** The place of a text that became several blocks: `last` is the last of them. */
interface Made {
  sectionId: string
  last: string | null
  count: number
}

/** A request that may have reached the server without an answer: it is repeated exactly as it was. */
export interface Sent {
  key: string
  base: string
  text: string
  /** null: the text begins an empty document. */
  change: DocumentChange | null
}

interface Draft {
  base: string
  text: string
  sent: Sent | null
  /** Its block is being deleted: nothing of it is saved until that is decided. */
  leaving: boolean
  /** The number of editors that show it. */
  open: number
  again: boolean
  timer: ReturnType<typeof setTimeout> | undefined
  /** Settles once the request in progress has been answered. */
  sending: Promise<void> | null
  /** The position of the caret when its editor was rendered again. */
  caret: number | null
  status: DraftStatus
}

export const HEADING = 'heading:'
/** The section of the first text in an empty document: it has no section yet. */
export const NO_SECTION = ''
const PAUSE_MS = 1500
const RETRY_MS = 3000
/** The expected delay of our own changes on the stream. */
const LATE_MS = 1500
/** The longest wait for the stream: the document may have been closed. */
const LAST_MS = 10_000
const TOLD_MS = 50
const NONE: readonly string[] = []

/** Texts that differ only in trailing white space count as equal. */
const isSameText = (one: string, other: string): boolean => one.trimEnd() === other.trimEnd()

export class EditorSession {
  readonly #drafts = new Map<string, Draft>()
  readonly #listeners = new Set<() => void>()
  readonly #showers = new Map<string, (text: string) => void>()
  #new: ReadonlyMap<string, readonly string[]> = new Map()
  #lost: readonly string[] = NONE
  /** Called on every key press. */
  onTyping: (key: string) => void = () => undefined

  constructor(
    readonly store: DocumentStore,
    readonly documentId: string,
    readonly storage: DraftStorage,
  ) {}

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  // --- reading

  status = (key: string): DraftStatus | null => this.#drafts.get(key)?.status ?? null

  textOf = (key: string): string | null => this.#drafts.get(key)?.text ?? null

  caretOf = (key: string): number | null => this.#drafts.get(key)?.caret ?? null

  baseOf = (key: string): string | null => this.#drafts.get(key)?.base ?? null

  /** The keys of a section's new blocks that the server does not have yet. */
  newIn = (sectionId: string): readonly string[] => this.#new.get(sectionId) ?? NONE

  /** Drafts whose block was deleted. */
  lost = (): readonly string[] => this.#lost

  /** True if anything waits to be saved or decided. */
  unsaved = (): boolean => [...this.#drafts.values()].some(({ status }) => status.state !== 'clean')

  // --- writing

  /** Loads the drafts that this browser kept from an earlier visit. Drafts that equal the server's text are dropped. */
  async recall(): Promise<void> {
    for (const [key, kept] of await this.storage.found(this.documentId)) {
      if (this.#drafts.has(key)) continue
      const present = this.#present(key)
      if (present !== null && isSameText(present, kept.text)) {
        this.storage.drop(this.documentId, key)
        continue
      }
      const state = present === null && kept.place === null ? 'gone' : 'found'
      const draft = this.#made(key, kept.base, kept.text, state, kept.place)
      this.#drafts.set(key, { ...draft, sent: kept.sent ?? null })
    }
    this.#tell()
  }

  /** An editor opens: it continues the existing draft, or starts one from the block's text. */
  open(key: string, text: string): void {
    const draft = this.#drafts.get(key)
    if (draft !== undefined) draft.open += 1
    else this.#drafts.set(key, { ...this.#made(key, text, text, 'clean', null), open: 1 })
    this.#tell()
  }

  /** Starts a new, empty block and returns its key. */
  begin(place: Place, text = ''): string {
    const key = `new-${crypto.randomUUID()}`
    this.#drafts.set(key, this.#made(key, '', text, 'clean', place))
    if (text !== '') this.type(key, text)
    this.#tell()
    return key
  }

  /** Writes into a block that may have no open editor. `shown`: the block's text if it has no draft. */
  write(key: string, shown: string, text: string): void {
    if (!this.#drafts.has(key)) this.#drafts.set(key, this.#made(key, shown, shown, 'clean', null))
    this.type(key, text)
  }

  type(key: string, text: string): void {
    const draft = this.#drafts.get(key)
    if (draft === undefined) return
    draft.text = text
    this.#keep(key, draft)
    const { state } = draft.status
    if (state === 'clean' || state === 'found') this.#move(key, { state: 'typed' })
    clearTimeout(draft.timer)
    if (state !== 'conflict' && state !== 'gone') draft.timer = setTimeout(() => this.#pause(key), PAUSE_MS)
    this.onTyping(key)
  }

  /** The editor closes: its text is saved. A new block without text is dropped. */
  async close(key: string, caret: number | null = null): Promise<void> {
    const draft = this.#drafts.get(key)
    if (draft === undefined) return
    draft.open -= 1
    draft.caret = caret
    setTimeout(() => (draft.caret = null), TOLD_MS)
    // The editor may be rendered again in the same moment.
    await Promise.resolve()
    if (draft.open === 0 && this.#drafts.get(key) === draft) await this.save(key)
  }

  /** Saves the draft now. */
  async save(key: string): Promise<void> {
    const draft = this.#drafts.get(key)
    if (draft === undefined || draft.leaving) return
    clearTimeout(draft.timer)
    const { state, place } = draft.status
    if (state === 'conflict' || state === 'gone') return
    if (state === 'saving') {
      draft.again = true
      return
    }
    if (draft.sent !== null) return this.#send(key, draft)
    const isNew = place !== null
    if (isNew && draft.text.trim() === '') return this.#settle(key)
    if (!isNew && isSameText(draft.text, draft.base)) return this.#settle(key)
    await this.#send(key, draft)
  }

  /** Discards the unsaved text and returns it, so that the caller can restore it. */
  discard(key: string): string | null {
    const draft = this.#drafts.get(key)
    if (draft === undefined) return null
    clearTimeout(draft.timer)
    this.#drop(key)
    return isSameText(draft.text, draft.base) ? null : draft.text
  }

  /** A person merged two texts: `current` is the server's text that they saw. */
  async resolve(key: string, text: string, current: string): Promise<void> {
    const draft = this.#drafts.get(key)
    if (draft === undefined) return
    draft.base = current
    draft.text = text
    this.#keep(key, draft)
    this.#move(key, { state: 'typed', meeting: null, problem: null })
    await this.save(key)
  }

  /** The editor shows the server's latest text instead of an unchanged one. */
  follow(key: string, text: string): void {
    const draft = this.#drafts.get(key)
    if (draft === undefined || !isSameText(draft.text, draft.base)) return
    draft.base = text
    draft.text = text
    this.#showers.get(key)?.(text)
    this.#move(key, { state: 'clean' })
  }

  /** Deletes the block as its writer saw it, or discards a new one. The typed text is kept until the server confirms;
   * if it refuses, the reason is thrown and editing continues. */
  async remove(key: string): Promise<void> {
    const draft = this.#drafts.get(key)
    if (draft !== undefined) draft.leaving = true
    await draft?.sending
    const block_id = this.store.idOf(key)
    const old = draft?.base ?? this.store.get().content.blocks[block_id]?.markdown
    const known = this.store.get().content.blocks[block_id] !== undefined
    try {
      if (known && old !== undefined) await this.store.change([{ op: 'delete_block', block_id, old }])
    } catch (reason) {
      if (!(reason instanceof Gone)) {
        if (draft !== undefined) draft.leaving = false
        if (this.#drafts.get(key) === draft && draft?.open === 0) void this.save(key)
        throw reason
      }
    }
    if (draft === undefined || this.#drafts.get(key) === draft) this.discard(key)
  }

  /** Turns a lost draft into a new block at a place. */
  revive(key: string, place: Place): string | null {
    const text = this.discard(key)
    return text === null ? null : this.begin(place, text)
  }

  /** Calls back when an open editor has to show another text. */
  show(key: string, shower: (text: string) => void): () => void {
    this.#showers.set(key, shower)
    return () => void (this.#showers.get(key) === shower && this.#showers.delete(key))
  }

  /** Sends all pending drafts, for instance because the page is closing. */
  saveAll = (): void => {
    for (const [key, { status }] of [...this.#drafts]) if (status.state === 'typed') void this.save(key)
  }

  dispose(): void {
    for (const { timer } of this.#drafts.values()) clearTimeout(timer)
  }

  // --- inside

  #pause(key: string): void {
    const draft = this.#drafts.get(key)
    if (draft === undefined) return
    // A request that was sent and not answered is repeated without a pause.
    if (draft.sent !== null) return void this.save(key)
    if (draft.text.trim() === '') return
    // The first section would be rendered under the caret.
    if (draft.status.place?.sectionId === NO_SECTION) return
    if (key.startsWith(HEADING) || isOneBlock(draft.text)) void this.save(key)
  }

  async #send(key: string, draft: Draft): Promise<void> {
    this.#move(key, { state: 'saving', problem: null })
    draft.sending = this.#sendAfter(key, draft)
    await draft.sending
  }

  /** The place of a block is known only after the blocks before it are saved. */
  async #sendAfter(key: string, draft: Draft): Promise<void> {
    for (let at = draft.status.place?.after ?? null; at !== null;) {
      const before: Draft | undefined = this.#drafts.get(at)
      await before?.sending
      at = before?.status.place?.after ?? null
    }
    if (this.#drafts.get(key) !== draft) return
    const sent = (draft.sent ??= this.#request(key, draft))
    this.#keep(key, draft)
    const known = this.store.get().content
    try {
      const answer = await this.#ask(sent)
      draft.sent = null
      const made = await this.#follow(key, known, answer, sent.change === null)
      if (sent.change === null && made !== null && this.#begun(key, draft, sent.text, made)) return
      const id = this.store.idOf(key)
      const fresh = answer.blocks.find((block) => block.id === id)?.markdown ?? sent.text.trimEnd()
      this.#saved(key, draft, sent.text, fresh)
    } catch (reason) {
      if (!(reason instanceof TryLater)) draft.sent = null
      this.#refused(key, draft, sent.base, reason instanceof Error ? reason : new Error(String(reason)))
    }
  }

  #request(key: string, draft: Draft): Sent {
    const { base, text, status } = draft
    const change = status.place?.sectionId === NO_SECTION ? null : this.#change(key, draft)
    return { key: crypto.randomUUID(), base, text, change }
  }

  #ask({ key, text, change }: Sent): Promise<DocumentChanges> {
    if (change !== null) return this.store.change([change], undefined, key)
    return this.store.import(text.trim(), key)
  }

  /** Waits until every subscriber of the store has been notified of a content for which `there` holds, so that later
   * changes are rendered together with it. */
  async #shown(there: (content: DocumentContent) => boolean): Promise<void> {
    const late = setTimeout(this.store.reload, LATE_MS)
    const last = Date.now() + LAST_MS
    await new Promise<void>((resolve) => {
      const look = () => {
        this.store.tell()
        if (!there(this.store.get().content) && Date.now() < last) return
        clearInterval(timer)
        stop()
        resolve()
      }
      const stop = this.store.subscribe(look)
      const timer = setInterval(look, TOLD_MS)
    })
    clearTimeout(late)
  }

  /** Blocks that were started behind a text move behind the server's version of it: other blocks, or a new section. */
  async #follow(key: string, known: DocumentContent, answer: DocumentChanges, begins: boolean): Promise<Made | null> {
    // The answer also includes others' changes since then: these have another version.
    const ours = ({ version }: { version: number }) => begins || version === answer.version
    const sectionId = answer.sections.filter(ours).findLast(({ id }) => known.sections[id] === undefined)?.id
    const fresh = answer.blocks
      .filter(ours)
      .filter(({ id }) => known.blocks[id] === undefined && id !== this.store.idOf(key))
    if (sectionId === undefined && fresh.length === 0) return null
    await this.#shown(({ version, sections }) => version >= answer.version && (!sectionId || sectionId in sections))
    const home = sectionId ?? fresh[0]?.section_id ?? ''
    const here = new Set(fresh.map(({ id }) => id))
    const last = this.store.get().content.sections[home]?.blocks.findLast((id) => here.has(id)) ?? null
    const behind = new Set([key])
    for (const [other, { status }] of this.#drafts) {
      const { place } = status
      if (place === null || place.after === null || !behind.has(place.after)) continue
      behind.add(other)
      place.sectionId = home
      if (place.after === key) place.after = last
    }
    return { sectionId: home, last, count: fresh.length }
  }

  /** The text started a document and is still being edited: the editor continues in the block that the server
   * created. */
  #begun(key: string, draft: Draft, sent: string, { sectionId, last, count }: Made): boolean {
    if (this.#drafts.get(key) !== draft || draft.text === sent) return false
    const grown = draft.text.startsWith(sent)
    const before = last === null ? undefined : this.store.get().content.blocks[last]?.markdown
    const rest = grown ? draft.text.slice(sent.length) : draft.text
    let place: Place | null = null
    if (last !== null && before !== undefined && (grown || count === 1)) {
      this.store.name(key, last)
      draft.base = before
      draft.text = grown ? before + rest : rest
    } else {
      place = { sectionId, after: last }
      draft.text = rest.trimStart()
    }
    this.#showers.get(key)?.(draft.text)
    this.#move(key, { state: 'typed', place, problem: null })
    this.#keep(key, draft)
    draft.again = false
    if (draft.open === 0) void this.save(key)
    else draft.timer = setTimeout(() => this.#pause(key), PAUSE_MS)
    return true
  }

  #change(key: string, draft: Draft): DocumentChange {
    const text = draft.text.trimEnd().replace(/^(?:[ \t]*\n)+/, '')
    const { place } = draft.status
    if (key.startsWith(HEADING))
      return {
        op: 'edit_section',
        section_id: this.store.idOf(key.slice(HEADING.length)),
        heading: text.trim(),
        old: draft.base,
      }
    if (place !== null) {
      const after = this.#known(place)
      return { op: 'insert_block', section_id: place.sectionId, after, markdown: text, ref: key }
    }
    const block_id = this.store.idOf(key)
    if (text === '') return { op: 'delete_block', block_id, old: draft.base }
    return { op: 'edit_block', block_id, markdown: text, old: draft.base }
  }

  /** The nearest block before a place that the server has. */
  #known({ sectionId, after }: Place): string | null {
    const { blocks } = this.store.get().content
    for (let at = after, tries = 0; at !== null && tries < 1000; tries += 1) {
      if (blocks[this.store.idOf(at)]?.section_id === sectionId) return this.store.idOf(at)
      at = this.#drafts.get(at)?.status.place?.after ?? null
    }
    const last = this.store.get().content.sections[sectionId]?.blocks.at(-1)
    return after === null ? null : (last ?? null)
  }

  #saved(key: string, draft: Draft, sent: string, fresh: string): void {
    if (this.#drafts.get(key) !== draft) return
    const typedOn = draft.text !== sent
    if (!typedOn) {
      draft.base = fresh
      if (!isSameText(fresh, sent)) {
        draft.text = fresh
        if (draft.open > 0) this.#showers.get(key)?.(fresh)
      }
    } else draft.base = isSameText(fresh, sent) ? fresh : sent
    this.#move(key, { state: typedOn ? 'typed' : 'clean', place: null, problem: null })
    if (!typedOn) {
      this.storage.drop(this.documentId, key)
      if (draft.open === 0) this.#drop(key)
    } else {
      this.#keep(key, draft)
      if (draft.again || draft.open === 0) void this.save(key)
      else draft.timer = setTimeout(() => this.#pause(key), PAUSE_MS)
    }
    draft.again = false
  }

  #refused(key: string, draft: Draft, base: string, problem: Error): void {
    if (this.#drafts.get(key) !== draft) return
    draft.again = false
    if (problem instanceof Conflict && problem.code === 'text_changed') {
      const { current = '', wanted = draft.text, hunks = [] } = problem.fields as Partial<Meeting>
      const meeting = { base, current, wanted: typeof wanted === 'string' ? wanted : draft.text, hunks }
      this.#move(key, { state: 'conflict', problem, meeting })
    } else if (problem instanceof Gone) {
      this.#move(key, { state: 'gone', problem, place: null })
    } else if (problem instanceof TryLater) {
      this.#move(key, { state: 'offline', problem })
      draft.timer = setTimeout(() => void this.save(key), (problem.retryAfterS ?? 0) * 1000 || RETRY_MS)
    } else this.#move(key, { state: 'refused', problem })
  }

  /** Nothing is left to save. */
  #settle(key: string): void {
    const draft = this.#drafts.get(key)
    if (draft === undefined) return
    this.storage.drop(this.documentId, key)
    if (draft.open > 0) this.#move(key, { state: 'clean', problem: null })
    else this.#drop(key)
  }

  #drop(key: string): void {
    const place = this.#drafts.get(key)?.status.place ?? null
    this.#drafts.delete(key)
    this.storage.drop(this.documentId, key)
    if (place !== null)
      for (const { status } of this.#drafts.values())
        if (status.place?.after === key && this.#present(key) === null) status.place.after = place.after
    this.#tell()
  }

  #present(key: string): string | null {
    const { content } = this.store.get()
    if (key.startsWith(HEADING)) return content.sections[this.store.idOf(key.slice(HEADING.length))]?.heading ?? null
    return content.blocks[this.store.idOf(key)]?.markdown ?? null
  }

  #made(key: string, base: string, text: string, state: DraftState, place: Place | null): Draft {
    const status = { key, state, problem: null, meeting: null, place }
    return {
      base,
      text,
      sent: null,
      leaving: false,
      open: 0,
      again: false,
      timer: undefined,
      sending: null,
      caret: null,
      status,
    }
  }

  #keep(key: string, { base, text, sent, status: { place } }: Draft): void {
    this.storage.keep(this.documentId, key, { base, text, place, sent, at: Date.now() })
  }

  #move(key: string, change: Partial<DraftStatus>): void {
    const draft = this.#drafts.get(key)
    if (draft === undefined) return
    draft.status = { ...draft.status, ...change }
    this.#tell()
  }

  #tell(): void {
    const fresh = new Map<string, string[]>()
    const lost: string[] = []
    for (const [key, { status }] of this.#drafts) {
      if (status.state === 'gone') lost.push(key)
      if (status.place === null) continue
      const { sectionId } = status.place
      fresh.set(sectionId, [...(fresh.get(sectionId) ?? []), key])
    }
    this.#lost = sameKeys(this.#lost, lost) ? this.#lost : lost
    this.#new = new Map([...fresh].map(([id, keys]) => [id, sameKeys(this.newIn(id), keys) ? this.newIn(id) : keys]))
    for (const listener of [...this.#listeners]) listener()
  }
}

const sameKeys = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((key, at) => key === other[at])
