/** Visual edit mode of one screen: the chosen element, pending changes, saving and undo. */
import type { SourceElement } from './api.gen.ts'
import type { OutlastClient } from './client.ts'
import { fitClasses, stillFits, type FittedClasses } from './edit-classes.ts'
import {
  editsOf,
  isChanged,
  isStyled,
  keyOf,
  previewOf,
  readFrom,
  settle,
  untouched,
  type MergeClasses,
  type PendingElement,
  type StyleChange,
} from './edit-pending.ts'
import {
  listenToFrame,
  tellFrame,
  type ElementAim,
  type ElementReport,
  type ElementStep,
  type FrameCommand,
  type FrameReport,
  type StyleCheck,
} from './edit-protocol.ts'
import { OutlastError } from './errors.ts'
import { Store } from './store.ts'

export interface PageError {
  message: string
  source: string
  line: number
  stack: string
}

export interface CapturedFrameElement {
  label: string
  html: string
  css: string
  loc: string | null
}

export interface EditState {
  /** True if clicks in the frame choose elements. */
  on: boolean
  /** True if the page in the frame answers. */
  ready: boolean
  /** The element chosen in the page. */
  element: ElementReport | null
  /** The selected mark: where its component is used, or where it is written. */
  aim: ElementAim
  /** Its source; null while it is being read. */
  source: SourceElement | null
  sourceError: Error | null
  palette: { tokens: Record<string, string>; dark: boolean }
  pending: PendingElement[]
  saving: boolean
  error: Error | null
  /** Checkpoints of changes saved here, the newest last. */
  saved: { checkpointId: string; edits: number }[]
  /** Errors of the page since it was opened, the newest last. */
  pageErrors: PageError[]
}

/** A class picked from a list, and the other properties that it sets. */
export interface PickedClass {
  class: string
  css?: Record<string, string>
}

const START: EditState = {
  on: false,
  ready: false,
  element: null,
  aim: 'loc',
  source: null,
  sourceError: null,
  palette: { tokens: {}, dark: false },
  pending: [],
  saving: false,
  error: null,
  saved: [],
  pageErrors: [],
}

const MAP_AFTER_MS = 120
const CAPTURE_MS = 5_000
const MEASURE_MS = 5_000
/** The first version of the page's script that answers `measure`. */
const MEASURES = 2
const MOST_ERRORS = 20
const MOST_SAVED = 20
const once = (classes: string): string => [...new Set(classes.split(/\s+/).filter((one) => one !== ''))].join(' ')

export const markOf = (element: ElementReport, aim: ElementAim): string | null =>
  aim === 'use' ? element.use : element.loc

/** A value set from outside. */
export class Box<T> extends Store<T> {
  start(): void {}
  stop(): void {}
  put = (value: T): void => this.set(value)
}

/** Lives as long as the page: pending changes outlive the frame and the components that show it. */
export class EditSession extends Store<EditState> {
  /** The element under the pointer; a separate store, because it changes with every movement. */
  readonly hovered = new Box<string | null>(null)
  #frame: HTMLIFrameElement | null = null
  #origin: string | null = null
  #leave: () => void = () => undefined
  #mapping: ReturnType<typeof setTimeout> | undefined
  #mapped = new Map<string, StyleChange>()
  #mappingNow: Promise<void> | null = null
  #reading: AbortController | null = null
  #captures = new Map<string, (captured: CapturedFrameElement) => void>()
  #measures = new Map<string, (found: number[]) => void>()
  /** The version of the page's script. */
  #version = 0
  /** The known source is older than the last save: an element that is changed now is read again when it is saved. */
  #outdated = false
  /** New places of elements that moved during a save. */
  #moves: { aim: ElementAim; from: string; to: string }[] = []

  constructor(
    readonly client: OutlastClient,
    readonly screenId: string,
    /** Joins class lists; use tailwind-merge's `twMerge` in production. */
    public merge: MergeClasses = once,
  ) {
    super(START)
  }

  start(): void {}

  stop(): void {
    this.detach()
  }

  // --- the frame

  /** Connects to the page in this frame. Call it again whenever the frame has loaded a page. */
  attach(frame: HTMLIFrameElement, origin: string): () => void {
    this.#leave()
    this.#frame = frame
    this.#origin = origin
    const stop = listenToFrame(frame, origin, (report) => this.#receive(report))
    this.#leave = () => {
      stop()
      this.#tell({ outlast: 'edit', on: false, scale: 1 })
      this.#frame = null
      this.#origin = null
      this.#leave = () => undefined
      this.hovered.put(null)
      this.patch({ ready: false })
    }
    this.patch({ ready: false })
    this.#tell({ outlast: 'hello' })
    return () => this.#frame === frame && this.detach()
  }

  detach(): void {
    this.#leave()
  }

  enable(): void {
    this.patch({ on: true })
    this.#tellMode()
    void this.client.edits.classes(this.screenId, {}).catch(() => undefined) // warms up the design system
  }

  disable(): void {
    this.patch({ on: false, element: null, source: null })
    this.#tellMode()
  }

  select(wish: { at?: number; step?: ElementStep; aim?: ElementAim; mark?: string; clear?: boolean }): void {
    this.#tell({ outlast: 'select', ...wish })
  }

  /** Selects the other mark of the chosen element. */
  choose(aim: ElementAim): void {
    const { element } = this.get()
    if (element === null || markOf(element, aim) === null) return
    this.patch({ aim, source: null })
    void this.#read()
  }

  /** The chosen element with its look. Rejects if the page does not answer. */
  capture(): Promise<CapturedFrameElement> {
    const id = crypto.randomUUID()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#captures.delete(id)
        reject(new Error('The page did not respond.'))
      }, CAPTURE_MS)
      this.#captures.set(id, (captured) => {
        clearTimeout(timer)
        this.#captures.delete(id)
        resolve(captured)
      })
      this.#tell({ outlast: 'capture', id })
    })
  }

  // --- changing

  /** Sets CSS of the chosen element. `picked` is the class that the user picked for it, with the other properties that
   * it sets. null restores the original. */
  updateStyle(property: string, value: string | null, picked?: PickedClass): void {
    this.updateStyles({ [property]: value === null ? null : { value, ...picked } })
  }

  /** Sets several properties at once. */
  updateStyles(values: Record<string, ({ value: string } & Partial<PickedClass>) | null>): void {
    this.#touch((one) => {
      const styles = { ...one.styles }
      for (const [property, wish] of Object.entries(values)) {
        delete styles[property] // the last change comes last, and wins
        if (wish === null) continue
        const change: StyleChange = {
          value: wish.value,
          class: wish.class ?? null,
          ...(wish.class !== undefined && { picked: wish.class }),
          ...(wish.css !== undefined && { css: wish.css }),
        }
        styles[property] = this.#mapped.get(mappedKey(one, property, change)) ?? change
      }
      return { ...one, styles }
    })
    this.#mapSoon()
  }

  updateText(text: string): void {
    this.#touch((one) => ({ ...one, text: text === (one.seen.text ?? '') ? null : text }))
  }

  updateAttribute(name: 'src' | 'alt', value: string): void {
    this.#touch((one) => ({ ...one, attributes: { ...one.attributes, [name]: value } }))
  }

  /** Adds classes by name. Rejects, and adds nothing, if the project has no such class. */
  async addClasses(names: readonly string[]): Promise<void> {
    const { known } = await this.client.edits.classes(this.screenId, {}, [...names])
    const missing = names.filter((name) => known[name] === null)
    if (missing.length > 0) throw new Error(`The project does not define ${missing.join(', ')}.`)
    this.#touch((one) => ({
      ...one,
      added: { ...one.added, ...Object.fromEntries(names.map((name) => [name, known[name] ?? {}])) },
      removed: one.removed.filter((name) => !names.includes(name)),
    }))
  }

  removeClass(name: string): void {
    this.#touch((one) => {
      const added = { ...one.added }
      delete added[name]
      const styles = Object.fromEntries(Object.entries(one.styles).filter(([, change]) => change.class !== name))
      const removed = one.seen.classes.split(/\s+/).includes(name) ? [...new Set([...one.removed, name])] : one.removed
      return { ...one, added, styles, removed }
    })
  }

  /** Discards pending changes of one element, or of all. */
  discard(key?: string): void {
    this.#setPending(key === undefined ? [] : this.get().pending.filter((one) => keyOf(one) !== key))
    this.patch({ error: null })
  }

  // --- saving

  /** Saves all pending changes; those that could not be saved stay, with the reason. */
  async save(): Promise<void> {
    if (this.get().saving) return
    if (await this.#saveOnce()) await this.#saveOnce() // one retry only: a page may move elements all the time
  }

  /** True if an unsaved element has moved, so that another try is worthwhile. */
  async #saveOnce(): Promise<boolean> {
    this.patch({ saving: true, error: null })
    this.#moves = []
    try {
      const unread = this.get().pending.filter((one) => one.unread)
      if (unread.length > 0) {
        const marks = unread.map((one) => one.mark)
        this.#learn((await this.client.edits.inspect(this.screenId, marks)).items)
      }
      await this.#mapNow(true)
      const sent = this.get().pending.filter((one) => editsOf(one, this.merge).length > 0)
      const edits = sent.flatMap((one) => editsOf(one, this.merge))
      if (edits.length > 0) {
        const { results, checkpoint_id: checkpointId } = await this.client.edits.save(this.screenId, edits)
        const { left, kept, saved } = settle(sent, results, this.merge)
        this.#outdated = true
        const unsent = this.get().pending.filter((one) => isStyled(one) && one.locked !== null && !sent.includes(one))
        const followed = left.map((one) => this.#followed(one))
        this.#setPending([...followed, ...unsent], kept)
        if (checkpointId !== null) {
          this.patch({ saved: [...this.get().saved, { checkpointId, edits: saved }].slice(-MOST_SAVED) })
        }
        if (left.some((one, at) => one.problem !== null && one.mark !== followed[at]?.mark)) return true
      } else this.#setPending(this.get().pending.filter((one) => one.locked !== null))
      void this.#read()
      return false
    } catch (error) {
      this.patch({ error: error as Error })
      return false
    } finally {
      this.patch({ saving: false })
    }
  }

  /** Undoes the last save. */
  async undo(): Promise<void> {
    const last = this.get().saved.at(-1)
    if (last === undefined || this.get().saving) return
    this.patch({ saving: true, error: null })
    try {
      await this.client.edits.undo(this.screenId, last.checkpointId)
      this.patch({ saved: this.get().saved.slice(0, -1) })
      void this.#read()
    } catch (error) {
      const overtaken = error instanceof OutlastError && error.code === 'files_changed'
      this.patch({ error: error as Error, ...(overtaken && { saved: [] }) }) // older saves lie below the newer change
    } finally {
      this.patch({ saving: false })
    }
  }

  dismissErrors(): void {
    this.patch({ pageErrors: [], error: null })
  }

  // --- inner steps

  #tell(message: FrameCommand): void {
    tellFrame(this.#frame, this.#origin, message)
  }

  #tellMode(): void {
    const frame = this.#frame
    const scale = frame === null ? 1 : frame.getBoundingClientRect().width / (frame.offsetWidth || 1) || 1
    this.#tell({ outlast: 'edit', on: this.get().on, scale })
  }

  #receive(report: FrameReport): void {
    switch (report.outlast) {
      case 'ready':
        this.#version = report.version
        if (report.fresh) this.#tell({ outlast: 'hello' })
        if (report.fresh || !this.get().ready) this.#greet()
        return
      case 'palette':
        return this.patch({ palette: { tokens: report.tokens, dark: report.dark } })
      case 'element':
        // An app may report a choice at any time; the server is asked only while the user edits.
        return this.get().on || report.element === null ? this.#chosen(report.element) : undefined
      case 'hover':
        return this.hovered.put(report.label)
      case 'leave':
        return this.disable()
      case 'moved':
        return this.#moved(report.aim, report.from, report.to)
      case 'measured':
        return this.#measures.get(report.id)?.(report.found)
      case 'captured':
        return this.#captures.get(report.id)?.(report)
      case 'error': {
        const { message, source, line, stack } = report
        return this.patch({
          pageErrors: [...this.get().pageErrors, { message, source, line, stack }].slice(-MOST_ERRORS),
        })
      }
    }
  }

  /** A page has loaded: sends it the state of the previous one. */
  #greet(): void {
    const { element, aim } = this.get()
    this.patch({ ready: true })
    this.#tellMode()
    this.#show([])
    const mark = element === null ? null : markOf(element, aim)
    if (mark !== null) this.select({ aim, mark })
  }

  #chosen(element: ElementReport | null): void {
    const { element: before, aim: aimBefore } = this.get()
    if (element === null) return this.patch({ element: null, source: null, sourceError: null })
    const same = before !== null && before.loc === element.loc && before.use === element.use
    const aim = same && markOf(element, aimBefore) !== null ? aimBefore : element.use !== null ? 'use' : 'loc'
    this.patch({ element, aim, ...(!same && { source: null, error: null }) })
    if (!same || before?.classes !== element.classes || this.get().source === null) void this.#read()
  }

  async #read(): Promise<void> {
    const { element, aim } = this.get()
    const mark = element === null ? null : markOf(element, aim)
    this.#reading?.abort()
    if (mark === null) return
    const life = new AbortController()
    this.#reading = life
    try {
      const { items } = await this.client.edits.inspect(this.screenId, [mark], life.signal)
      if (life.signal.aborted) return
      this.#outdated = false
      this.patch({ source: items[0] ?? null, sourceError: null })
      this.#learn(items)
    } catch (error) {
      if (!life.signal.aborted) this.patch({ sourceError: error as Error })
    }
  }

  /** Uses the source for elements that were changed before it was read. */
  #learn(items: readonly SourceElement[]): void {
    const found = new Map(items.map((item) => [item.loc, item]))
    const known = this.get().pending.map((one) => {
      const source = found.get(one.mark)
      return one.unread && source !== undefined ? { ...one, ...readFrom(source) } : one
    })
    if (known.some((one, at) => one !== this.get().pending[at])) this.#setPending(known)
  }

  #moved(aim: ElementAim, from: string, to: string): void {
    const pending = this.get().pending.map((one) => (one.aim === aim && one.mark === from ? { ...one, mark: to } : one))
    this.#moves.push({ aim, from, to })
    this.patch({ pending })
  }

  /** The changes that are being saved, at their current places. */
  #followed(one: PendingElement): PendingElement {
    return this.#moves.reduce(
      (now, { aim, from, to }) => (now.aim === aim && now.mark === from ? { ...now, mark: to, problem: null } : now),
      one,
    )
  }

  /** Updates the pending changes of the chosen element. */
  #touch(change: (one: PendingElement) => PendingElement): void {
    const { element, aim, source, pending } = this.get()
    const mark = element === null ? null : markOf(element, aim)
    if (element === null || mark === null) return
    const key = keyOf({ aim, mark })
    const old = pending.find((one) => keyOf(one) === key)
    const fresh = untouched(aim, mark, element, source)
    const next = { ...change(old ?? { ...fresh, unread: fresh.unread || this.#outdated }), problem: null }
    const changed = isChanged(next, this.merge)
    const others = pending.filter((one) => one !== old)
    const at = old === undefined ? others.length : pending.indexOf(old)
    this.#setPending(changed ? others.toSpliced(at, 0, next) : others)
  }

  #setPending(pending: PendingElement[], kept: string[] = []): void {
    this.patch({ pending })
    this.#show(kept)
  }

  #show(kept: string[]): void {
    const items = this.get().pending.map((one) => previewOf(one, this.merge))
    this.#tell({ outlast: 'previews', items, kept })
  }

  #mapSoon(): void {
    clearTimeout(this.#mapping)
    this.#mapping = setTimeout(() => void this.#mapNow().catch(() => undefined), MAP_AFTER_MS)
  }

  /** Finds classes for changes without one; `again`: also for those that no longer fit, as the page may have changed.
   * */
  async #mapNow(again = false): Promise<void> {
    clearTimeout(this.#mapping)
    await this.#mappingNow?.catch(() => undefined)
    const wanted: PendingElement[] = []
    for (const one of this.get().pending.filter(({ locked }) => locked === null)) {
      const fitted = Object.values(one.styles).every((change) => change.fitted === true)
      if (!fitted || (again && !(await stillFits(one, this.#measured)))) wanted.push(one)
    }
    if (wanted.length === 0) return
    this.#mappingNow = this.#map(wanted).finally(() => (this.#mappingNow = null))
    await this.#mappingNow
  }

  async #map(wanted: readonly PendingElement[]): Promise<void> {
    const refused: Record<string, string> = {}
    for (const one of wanted) {
      const fitted = await fitClasses(this.client, this.screenId, one, this.#measured)
      Object.assign(refused, fitted.refused)
      this.#fit(one, fitted)
    }
    const reasons = Object.entries(refused)
    if (reasons.length === 0) return
    throw new Error(
      `No class sets this value: ${reasons.map(([property, reason]) => `${property}: ${reason}`).join('; ')}.`,
    )
  }

  /** Applies the found classes to changes that are still the same. */
  #fit(one: PendingElement, { styles }: FittedClasses): void {
    for (const [property, change] of Object.entries(styles)) this.#mapped.set(mappedKey(one, property, change), change)
    this.#setPending(
      this.get().pending.map((now) =>
        keyOf(now) !== keyOf(one)
          ? now
          : {
              ...now,
              styles: Object.fromEntries(
                Object.entries(now.styles).map(([property, change]) => {
                  const found = styles[property]
                  const same = found?.value === change.value && found.picked === change.picked
                  return [property, same ? found : change]
                }),
              ),
            },
      ),
    )
  }

  /** For each check the try that fits; empty if the page does not answer. */
  readonly #measured = (one: PendingElement, checks: StyleCheck[]): Promise<number[]> => {
    if (!this.get().ready || this.#version < MEASURES) return Promise.resolve([])
    const others = this.get().pending.filter((other) => keyOf(other) !== keyOf(one))
    const items = [...others, one].map((each) => previewOf(each, this.merge))
    const id = crypto.randomUUID()
    return new Promise((resolve) => {
      const done = (found: number[]) => {
        clearTimeout(timer)
        this.#measures.delete(id)
        resolve(found)
      }
      const timer = setTimeout(() => done([]), MEASURE_MS)
      this.#measures.set(id, done)
      this.#tell({ outlast: 'previews', items, kept: [] })
      this.#tell({ outlast: 'measure', id, aim: one.aim, mark: one.mark, checks })
    })
  }
}

/** A cache key: the same change may need another class on another element. */
const mappedKey = (one: PendingElement, property: string, { value, picked = '' }: StyleChange): string =>
  `${keyOf(one)} ${property}:${value} ${picked}`
