/** How a review stands: which proposals, which edit is looked at, what can be taken back. Outside of React's state, so that
 * stepping from one edit to the next draws these two and no other. */
import { OutlastError, type DocumentStore, type EditData } from '@outlast/sdk'
import { NOTHING, nextOpen, reviewList, type ReviewList, type ReviewScope } from './review-list'
import { forward, inverse, type Undoing } from './review-undo'

export interface Refusal {
  editId: string
  error: Error
}

interface State {
  scope: ReviewScope
  current: string | null
  /** The edit whose text is being changed before it is accepted. */
  editing: string | null
  /** Why the last decision about an edit was not made. */
  refused: Refusal | null
  /** What was just done, for those who cannot see it. */
  said: string
  undo: Undoing | null
  undoing: boolean
}

const START: State = {
  scope: {},
  current: null,
  editing: null,
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
  readonly #listeners = new Set<() => void>()

  constructor(readonly store: DocumentStore) {}

  get = (): State => this.#state

  /** Hears changes of the review and of the document. */
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

  /** Looks at an edit; null: at none. */
  look = (current: string | null): void => {
    if (current !== this.#state.current) this.#set({ current, editing: null })
  }

  /** Only this proposal, from its first open edit; one that is closed is shown too. */
  open = (proposalId: string): void => {
    this.#seen.add(proposalId)
    this.#set({ scope: { proposalId } })
    const { items } = this.list()
    const its = items.filter(({ proposal }) => proposal.id === proposalId)
    const first = its.find(({ edit }) => edit.state === 'open') ?? its[0]
    this.#set({ current: first?.edit.id ?? null, editing: null })
  }

  narrow = (scope: ReviewScope): void => this.#set({ scope, current: null, editing: null })

  step = (by: 1 | -1): string | null => {
    const next = nextOpen(this.list(), this.#state.current, by)
    this.look(next)
    return next
  }

  startEditing = (editing: string): void => this.#set({ current: editing, editing })

  stopEditing = (): void => this.#set({ editing: null })

  forgive = (): void => this.#set({ refused: null })

  /** Decides about an edit and goes on to the next one. Refused: comes back to it, with the reason. */
  decide = async (
    edit: EditData,
    decision: 'accept' | 'reject',
    more: { text?: string; old?: string } = {},
  ): Promise<boolean> => {
    if (edit.state !== 'open' || this.store.get().deciding[edit.id] !== undefined) return false
    const before = this.store.get().content
    const next = nextOpen(this.list(), edit.id, 1)
    const looking = this.#state.current === edit.id || this.#state.current === null
    this.#set({
      refused: null,
      editing: null,
      ...(looking && { current: next === edit.id ? null : next }),
      said: this.#left(DONE[decision], next === edit.id ? 0 : this.list().open - 1),
    })
    try {
      const { edits, version } = await this.store.decide(edit.id, { decision, ...more })
      const decided = edits.find(({ id }) => id === edit.id) ?? edit
      const undo = decision === 'accept' ? inverse([decided], before, version) : forward([edit], before)
      this.#set({ undo })
      return true
    } catch (reason) {
      this.#refuse(edit.id, reason)
      return false
    }
  }

  /** All that is open in the list: each proposal together, or not at all. */
  decideAll = async (decision: 'accept' | 'reject'): Promise<boolean> => {
    const open = this.list().items.filter(({ edit }) => edit.state === 'open')
    const before = this.store.get().content
    this.#set({ refused: null, editing: null })
    for (const proposalId of new Set(open.map(({ proposal }) => proposal.id))) {
      const items = open.filter(({ proposal }) => proposal.id === proposalId)
      const ids = items.map(({ edit }) => edit.id)
      try {
        const { edits, version } = await this.store.decideAll(proposalId, decision, ids)
        const undo =
          decision === 'accept'
            ? inverse(edits, before, version)
            : forward(
                items.map(({ edit }) => edit),
                before,
              )
        this.#set({ undo, said: this.#left(`${DONE[decision]} ${ids.length}`, this.list().open) })
      } catch (reason) {
        this.#refuse(editOf(reason, ids), reason)
        return false
      }
    }
    this.#set({ current: null })
    return true
  }

  /** Takes back what the last decision did to the document, by changes of one's own. */
  undo = async (): Promise<string> => {
    const { undo, undoing } = this.#state
    if (undo === null || undoing) return ''
    this.#set({ undoing: true })
    try {
      await undo.run(this.store)
      this.#set({ undo: null, said: undo.done })
      return undo.done
    } finally {
      this.#set({ undoing: false })
    }
  }

  #left(done: string, left: number): string {
    return `${done}. ${left === 0 ? 'Nothing is left to review.' : `${left} left.`}`
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

/** The edit that a refusal of several is about; else the first. */
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
