/** The state of a review: its proposals, the current edit, and the decisions that can be undone. Kept outside of
 * React's state, so that a step from one edit to the next renders only these two. */
import { OutlastError, type DocumentStore, type EditData } from '@outlast/sdk'
import { NOTHING, nextOpen, reviewList, type ReviewList, type ReviewScope } from './review-list'
import { begun, clashOf, clashWith, hasWords, resultOf, type Typed, type Work } from './review-seen'
import { reopening, type Undoing } from './review-undo'

interface Refusal {
  editId: string
  error: Error
}

/** A conflict that a person is resolving. */
export interface Resolving {
  edit: EditData
  /** True: accept the edit if there is no conflict any more. */
  accepts: boolean
  /** Their progress; null: they have not seen it yet. */
  work: Work | null
}

interface State {
  scope: ReviewScope
  current: string | null
  /** The edit whose text is being changed before it is accepted. */
  editing: string | null
  resolving: Resolving | null
  /** Why the last decision about an edit failed. */
  refused: Refusal | null
  /** The last action, for screen readers. */
  said: string
  undo: Undoing | null
  undoing: boolean
}

const START: State = {
  scope: {},
  current: null,
  editing: null,
  resolving: null,
  refused: null,
  said: '',
  undo: null,
  undoing: false,
}

const DONE = { accept: 'Accepted', reject: 'Rejected' } as const

export class Review {
  #state = START
  #list: ReviewList = NOTHING
  #listOf: readonly unknown[] = []
  readonly #seen = new Set<string>()
  /** By edit: text that is typed and not accepted yet, wherever it is shown. */
  readonly #typed = new Map<string, Typed>()
  readonly #works = new Map<string, Work>()
  /** Settles when the last decision has been answered. */
  #deciding: Promise<unknown> = Promise.resolve()
  readonly #listeners = new Set<() => void>()

  constructor(readonly store: DocumentStore) {}

  get = (): State => this.#state

  /** Subscribes to changes of the review and of the document. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    const stop = this.store.subscribe(listener)
    return () => (this.#listeners.delete(listener), stop())
  }

  /** The same object until something in it changes. */
  list = (): ReviewList => {
    const { proposals, content } = this.store.get()
    const of = [proposals, content.order, content.sections, this.#state.scope]
    if (of.every((one, at) => one === this.#listOf[at])) return this.#list
    for (const { id, state } of proposals) if (state === 'open') this.#seen.add(id)
    this.#list = reviewList(proposals, content, this.#seen, this.#state.scope, this.#list)
    this.#listOf = of
    return this.#list
  }

  edit = (editId: string | null): EditData | null =>
    this.list().items.find(({ edit }) => edit.id === editId)?.edit ?? null

  /** Selects an edit; null: none. */
  look = (current: string | null): void => {
    if (current !== this.#state.current) this.#set({ current, editing: null })
  }

  /** Shows only this proposal, from its first open edit. A closed proposal is shown too. */
  open = (proposalId: string): void => {
    this.#seen.add(proposalId)
    this.#set({ scope: { proposalId }, resolving: null })
    const { items } = this.list()
    const its = items.filter(({ proposal }) => proposal.id === proposalId)
    const first = its.find(({ edit }) => edit.state === 'open') ?? its[0]
    this.#set({ current: first?.edit.id ?? null, editing: null })
  }

  narrow = (scope: ReviewScope): void => this.#set({ scope, current: null, editing: null, resolving: null })

  step = (by: 1 | -1): string | null => {
    const next = nextOpen(this.list(), this.#state.current, by)
    this.look(next)
    return next
  }

  startEditing = (editing: string): void => this.#set({ current: editing, editing })

  /** Ends editing and drops the typed text. */
  stopEditing = (): void => {
    this.#typed.delete(this.#state.editing ?? '')
    this.#set({ editing: null })
  }

  typed = (editId: string): Typed | null => this.#typed.get(editId) ?? null
  keepTyped = (editId: string, typed: Typed): void => void this.#typed.set(editId, typed)

  /** Opens the conflict of an edit with the text typed in it before; `accepts`: accept it if there is no conflict. */
  resolve = (editId: string, accepts = false): void => {
    const edit = this.edit(editId)
    const work = this.#works.get(editId) ?? null
    if (edit !== null) this.#set({ resolving: { edit, accepts, work: work !== null && hasWords(work) ? work : null } })
  }
  stopResolving = (): void => this.#set({ resolving: null })
  keepWork = (editId: string, work: Work): void => void this.#works.set(editId, work)

  forgive = (): void => this.#set({ refused: null })

  /** Decides about an edit and selects the next one. If that fails, selects it again and shows the reason. */
  decide = (
    edit: EditData,
    decision: 'accept' | 'reject',
    more: { text?: string; old?: string } = {},
  ): Promise<boolean> => this.#making(this.#decide(edit, decision, more))

  /** Decides about all open edits of the list, one document version per proposal; edits that cannot be accepted now
   * stay open. Returns false if some did. */
  decideAll = (decision: 'accept' | 'reject'): Promise<boolean> => this.#making(this.#decideAll(decision))

  async #decide(
    edit: EditData,
    decision: 'accept' | 'reject',
    more: { text?: string; old?: string },
  ): Promise<boolean> {
    if (edit.state !== 'open' || this.store.get().deciding[edit.id] !== undefined) return false
    const next = nextOpen(this.list(), edit.id, 1)
    const looking = this.#state.current === edit.id || this.#state.current === null
    this.#set({
      refused: null,
      editing: null,
      resolving: null,
      ...(looking && { current: next === edit.id ? null : next }),
      said: this.#left(DONE[decision], next === edit.id ? 0 : this.list().open - 1),
    })
    try {
      const { edits } = await this.store.decide(edit.id, { decision, ...more })
      this.#typed.delete(edit.id)
      this.#works.delete(edit.id)
      this.#set({ undo: reopening(new Map([[edit.proposal_id, edits]])) })
      return true
    } catch (reason) {
      this.#refuse(edit.id, reason)
      if (more.text !== undefined) this.#giveBack(edit, more.text, reason)
      return false
    }
  }

  async #decideAll(decision: 'accept' | 'reject'): Promise<boolean> {
    const open = this.list().items.filter(({ edit }) => edit.state === 'open')
    this.#set({ refused: null, editing: null, resolving: null })
    const decisions = new Map<string, readonly EditData[]>()
    let left: string | null = null
    for (const proposalId of new Set(open.map(({ proposal }) => proposal.id))) {
      const ids = open.filter(({ proposal }) => proposal.id === proposalId).map(({ edit }) => edit.id)
      try {
        const answer = await this.store.decideAll(proposalId, decision, ids)
        decisions.set(
          proposalId,
          answer.edits.filter(({ state }) => state !== 'open'),
        )
        left ??= answer.left[0]?.edit_id ?? null
        const done = [...decisions.values()].flat().length
        this.#set({ undo: reopening(decisions), said: this.#left(`${DONE[decision]} ${done}`, this.list().open) })
      } catch (reason) {
        this.#refuse(editOf(reason, ids), reason)
        return false
      }
    }
    this.#set({ current: left })
    return left === null
  }

  /** Undoes the decision about an edit, including one that another member made. */
  reopen = (edit: EditData): Promise<string> => this.#takeBack(reopening(new Map([[edit.proposal_id, [edit]]])))

  /** Undoes the last decision, even if its answer is pending. */
  undo = async (): Promise<string> => {
    await this.#deciding
    return this.#takeBack(this.#state.undo)
  }

  async #takeBack(undo: Undoing | null): Promise<string> {
    if (this.#state.undoing) return ''
    if (undo === null) return 'There is no decision to undo.'
    this.#set({ undoing: true })
    try {
      const done = await undo.run(this.store)
      this.#set({ undo: null, said: done, current: undo.editId, refused: null })
      return done
    } finally {
      this.#set({ undoing: false })
    }
  }

  #making<V>(doing: Promise<V>): Promise<V> {
    this.#deciding = doing
    return doing
  }

  /** Restores the typed text that was not accepted, with the text that conflicted with it. */
  #giveBack(edit: EditData, text: string, reason: unknown): void {
    const block = this.store.get().content.blocks[edit.block_id ?? '']
    const clash = clashOf(reason, block)
    const known = this.#works.get(edit.id)
    const late = (reason instanceof OutlastError && reason.code === 'edit_decided') || this.edit(edit.id) === null
    const work =
      clash !== null
        ? begun(clash)
        : known !== undefined && resultOf(known) === text
          ? known
          : late
            ? { ...begun(clashWith(text, block)), written: text }
            : null
    if (work === null) return this.#set({ editing: edit.id })
    this.#works.set(edit.id, work)
    this.#set({ resolving: { edit, accepts: false, work }, ...(clash !== null && { refused: null }) })
  }

  #left(done: string, left: number): string {
    return `${done}. ${left === 0 ? 'Nothing left to review.' : `${left} left.`}`
  }

  #refuse(editId: string, reason: unknown): void {
    const error = reason instanceof Error ? reason : new Error(String(reason))
    this.#set({ refused: { editId, error }, current: editId, said: error.message })
  }

  #set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of [...this.#listeners]) listener()
  }
}

/** The edit that caused the failure of a batch, or else the first. */
function editOf(reason: unknown, ids: readonly string[]): string {
  const named = reason instanceof OutlastError ? reason.fields['edit_id'] : undefined
  return typeof named === 'string' && ids.includes(named) ? named : (ids[0] ?? '')
}

const reviews = new WeakMap<DocumentStore, Review>()

/** The one review of an open document. */
export function reviewOf(store: DocumentStore): Review {
  const known = reviews.get(store) ?? new Review(store)
  reviews.set(store, known)
  return known
}
