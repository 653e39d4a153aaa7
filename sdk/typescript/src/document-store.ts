/**
 * One open document kept up to date: content, comments, proposals and presence. It listens to the project's stream,
 * which `ProjectStore` keeps open, and reads the changes since its version; so it misses nothing, however often the
 * connection breaks. Your own changes are shown at once, and reverted if the server refuses them.
 */
import type {
  CommentData,
  Decided,
  Decision,
  DocumentChange,
  DocumentChanges,
  DocumentData,
  DocumentPlace,
  EditData,
  OutlastEvent,
  Page,
  Presence,
  ProposalData,
} from './api.gen.ts'
import type { OutlastClient } from './client.ts'
import { foreseen, NO_CONTENT, contentOf, sharing, withChanges, type DocumentContent } from './document-content.ts'
import { Gone } from './errors.ts'
import { withComment, withEdits, withoutComment, withProposal } from './proposals.ts'
import { Store } from './store.ts'

export interface DocumentSnapshot {
  document: DocumentData | null
  /** The content to show, with changes that the server has not answered yet. */
  content: DocumentContent
  /** Open and resolved comments, oldest first. */
  comments: readonly CommentData[]
  /** Proposals that were open when the document was loaded, and all newer ones; oldest first. */
  proposals: readonly ProposalData[]
  presence: Pick<Presence, 'watching' | 'typing' | 'places'>
  /** Edits whose decision the server has not answered yet. */
  deciding: Readonly<Record<string, 'accept' | 'reject'>>
  /** Changes that the server has not answered yet. */
  saving: number
  loading: boolean
  /** The reason why the document or its changes could not be read; the store tries again. */
  error: Error | null
  /** The document was deleted, or this user has no access to it. */
  gone: boolean
}

const NO_PRESENCE: DocumentSnapshot['presence'] = { watching: [], typing: [], places: {} }
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** The time to wait for a response of our own before its events are read like those of others. */
const OWN_ANSWER_MS = 300
const PRESENCE_PAUSE_MS = 400

type Edited = readonly DocumentChange[]

export class DocumentStore extends Store<DocumentSnapshot> {
  /** The content that the server has confirmed. */
  #confirmed: DocumentContent = NO_CONTENT
  /** Changes in the order in which they were made; sent one after the other. */
  #underway: Edited[] = []
  #queue: Promise<unknown> = Promise.resolve()
  #life: AbortController | null = null
  #loaded = false
  #stale = false
  /** The newest reported version. */
  #heard = -1
  #reading = false
  #failures = 0
  /** Counts full reads: only the newest one is shown. */
  #loads = 0
  /** Events received during a full read: they may be newer than its response. */
  #meanwhile: (() => void)[] | null = null
  #loadTimer: ReturnType<typeof setTimeout> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #ids = new Map<string, string>()
  readonly #refs = new Map<string, string>()
  #place: DocumentPlace | null = null
  #placeTimer: ReturnType<typeof setTimeout> | undefined

  constructor(
    readonly client: OutlastClient,
    readonly documentId: string,
  ) {
    super({
      document: null,
      content: NO_CONTENT,
      comments: [],
      proposals: [],
      presence: NO_PRESENCE,
      deciding: {},
      saving: 0,
      loading: true,
      error: null,
      gone: false,
    })
  }

  /** Loads the document, or the changes since it was stopped. Does nothing if already running. */
  start(): void {
    if (this.#life !== null) return
    this.#life = new AbortController()
    const stops = [
      this.client.listen((event) => this.#receive(() => this.#onEvent(event))),
      this.client.listenPresence((presence) => this.#present(presence)),
      this.client.listenSnapshots((_, id) => this.#begun(id)),
    ]
    this.#life.signal.addEventListener('abort', () => stops.forEach((stop) => stop()))
    void this.#load(this.#life.signal)
  }

  stop(): void {
    if (this.#place !== null) this.client.documents.leave(this.documentId).catch(() => undefined)
    this.#place = null
    this.#life?.abort()
    this.#life = null
    this.#meanwhile = null
    clearTimeout(this.#loadTimer)
    this.#loadTimer = undefined
    clearTimeout(this.#timer)
    clearTimeout(this.#placeTimer)
    this.#placeTimer = undefined
    this.#reading = false
  }

  /** The project's stream is closed while the page is hidden, and continues from its cursor. */
  rest(): void {}
  peek = (): Promise<void> => Promise.resolve()

  /** Reads everything again. */
  reload = (): void => {
    this.#failures = 0
    if (this.#life !== null) void this.#load(this.#life.signal)
  }

  // --- writing

  /** Shows changes at once, sends them in order, and returns the server's result. If they are refused, they are
   * reverted and the reason is thrown (`text_changed`, `section_locked` …). New blocks go by their `ref` until they
   * have an id; later changes may use it. Changes that are sent again under the same key are made once. */
  change = (changes: Edited, summary?: string, idempotencyKey?: string): Promise<DocumentChanges> => {
    this.#underway = [...this.#underway, changes]
    this.#show()
    this.tell()
    const sent = this.#queue.then(async () => {
      const named = changes.map((change) => this.#named(change))
      const { version } = this.#confirmed
      const since = version < 0 ? undefined : version
      const answer = await this.client.documents.change(this.documentId, named, summary, { since, idempotencyKey })
      for (const [ref, id] of Object.entries(answer.made)) this.#name(ref, id)
      this.#absorb(answer)
      return answer
    })
    const over = () => {
      this.#underway = this.#underway.filter((one) => one !== changes)
      this.#show()
      if (this.#underway.length === 0) this.#catchUp()
    }
    this.#queue = sent.then(over, over)
    return sent
  }

  /** Appends a Markdown text, and shows the server's result. A text that is sent again under the same key is appended
   * once. */
  import = async (markdown: string, idempotencyKey: string): Promise<DocumentChanges> => {
    const answer = await this.client.documents.import(this.documentId, { markdown }, { idempotencyKey })
    if (this.#confirmed.version >= 0) this.#hearVersion(answer.version)
    return answer
  }

  /** Assigns a `ref` to a block that was created without one. */
  name = (ref: string, id: string): void => {
    this.#name(ref, id)
    this.#show()
  }

  /** A stable key of a block or section for lists: it does not change when the server assigns an id. */
  keyOf = (id: string): string => this.#refs.get(id) ?? id

  /** The id for a `ref`; the text unchanged if it is an id, or has none yet. */
  idOf = (ref: string): string => this.#ids.get(ref) ?? ref

  /** Shows the decision at once; reverts it and throws if it is refused. */
  decide = (editId: string, decision: Decision): Promise<Decided> =>
    this.#deciding([editId], decision.decision, () => this.client.documents.decide(editId, decision))

  /** Decides several edits of a proposal: all that can be accepted. */
  decideAll = (
    proposalId: string,
    decision: 'accept' | 'reject',
    editIds: readonly string[] = this.#openEdits(proposalId),
  ): Promise<Decided> =>
    this.#deciding(editIds, decision, () =>
      this.client.documents.decideAll(
        proposalId,
        editIds.map((edit_id) => ({ edit_id, decision })),
        true,
      ),
    )

  /** Reverts decisions about edits of a proposal: the edits are open again, and accepted text is removed. Refused if an
   * edit was decided again since. */
  reopen = (proposalId: string, edits: readonly EditData[]): Promise<Decided> =>
    this.#deciding([], 'reopen', () =>
      this.client.documents.decideAll(
        proposalId,
        edits.map(({ id, decided_at }) => ({
          edit_id: id,
          decision: 'reopen',
          ...(decided_at !== null && { decided_at }),
        })),
      ),
    )

  /** Loads a proposal if it is not known yet, also a closed one. */
  ensureProposal = async (proposalId: string): Promise<void> => {
    if (this.get().proposals.some(({ id }) => id === proposalId)) return
    const proposal = await this.client.documents.proposal(proposalId)
    this.#receive(() => this.patch({ proposals: withProposal(this.get().proposals, proposal) }))
  }

  /** Adds a comment from a response, before the stream reports it. */
  tellComment = (comment: CommentData): void => {
    this.#receive(() => this.patch({ comments: withComment(this.get().comments, comment) }))
    this.tell()
  }

  /** Reports your place to the other members, after a short pause and only the last of several places. While you type,
   * the report is repeated every few seconds; `again` repeats any place. */
  present = (place: DocumentPlace, again = false): void => {
    const before = this.#place
    this.#place = place
    const same = before !== null && before.block_id === place.block_id && before.typing === place.typing
    if (this.#placeTimer !== undefined || (same && !place.typing && !again)) return
    this.#placeTimer = setTimeout(() => {
      this.#placeTimer = undefined
      if (this.#place === null || this.#life === null) return
      this.client.documents.present(this.documentId, this.#place).catch(() => undefined)
    }, PRESENCE_PAUSE_MS)
  }

  #openEdits(proposalId: string): string[] {
    const proposal = this.get().proposals.find(({ id }) => id === proposalId)
    return (proposal?.edits ?? []).filter(({ state }) => state === 'open').map(({ id }) => id)
  }

  async #deciding(
    editIds: readonly string[],
    decision: Decision['decision'],
    ask: () => Promise<Decided>,
  ): Promise<Decided> {
    if (decision !== 'reopen') {
      const deciding = Object.fromEntries(editIds.map((id) => [id, decision]))
      this.patch({ deciding: { ...this.get().deciding, ...deciding } })
    }
    this.tell()
    try {
      const decided = await ask()
      this.#receive(() => this.patch({ proposals: withEdits(this.get().proposals, decided.edits) }))
      if (decided.version !== null) this.#hearVersion(decided.version)
      return decided
    } finally {
      const left = Object.entries(this.get().deciding).filter(([id]) => !editIds.includes(id))
      this.patch({ deciding: Object.fromEntries(left) })
      this.tell()
    }
  }

  #name(ref: string, id: string): void {
    this.#ids.set(ref, id)
    this.#refs.set(id, ref)
  }

  /** A change with ids in place of the refs that have one. */
  #named(change: DocumentChange): DocumentChange {
    const named: Record<string, unknown> = { ...change }
    for (const key of ['block_id', 'section_id', 'after'])
      if (typeof named[key] === 'string') named[key] = this.idOf(named[key])
    return named as unknown as DocumentChange
  }

  // --- reading

  /** Applies news, and again after a read in progress, which may be older. News may arrive twice. */
  #receive(news: () => void): void {
    this.#meanwhile?.push(news)
    news()
  }

  async #load(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#loadTimer)
    this.#loadTimer = undefined
    this.#stale = false
    const load = (this.#loads += 1)
    const over = () => signal.aborted || load !== this.#loads
    const meanwhile: (() => void)[] = (this.#meanwhile = [])
    const replay = () => meanwhile.slice().forEach((news) => news())
    const { documents } = this.client
    const id = this.documentId
    try {
      const rest = Promise.all([
        everything((after) => documents.comments(id, { status: 'all', after, signal })),
        everything((before) => documents.proposals(id, { state: 'open', before, signal })),
      ])
      rest.catch(() => undefined)
      const { sections, ...document } = await documents.get(id, signal)
      if (over()) return
      if (document.version >= this.#confirmed.version)
        this.#confirmed = sharing(contentOf(document.version, sections), this.#confirmed)
      this.#loaded = true
      this.patch({ document, loading: false })
      replay()
      this.#show()
      this.#meet(signal)
      const [comments, proposals] = await rest
      if (over()) return
      const known = this.get().proposals.filter((one) => !proposals.some(({ id }) => id === one.id))
      this.patch({
        comments: comments.toSorted(byTime),
        proposals: proposals.reduce<readonly ProposalData[]>(withProposal, this.get().proposals),
        error: null,
      })
      this.#meanwhile = null
      replay()
      for (const { id } of known.filter(({ state }) => state === 'open')) void this.#reread(id)
      this.#failures = 0
      if (this.#stale) await this.#load(signal)
      else this.#catchUp()
    } catch (reason) {
      if (over()) return
      this.#meanwhile = null
      this.#failed(reason)
      if (!(reason instanceof Gone)) this.#loadTimer = setTimeout(() => void this.#load(signal), this.#pause())
    }
  }

  /** Loads the present members: the stream reports only changes. */
  #meet(signal: AbortSignal): void {
    this.client.documents.presence(this.documentId, signal).then(
      (presence) => {
        if (!signal.aborted) this.#present(presence)
      },
      () => undefined,
    )
  }

  /** Reads a proposal that is no longer in the list of open ones. */
  async #reread(proposalId: string): Promise<void> {
    try {
      const proposal = await this.client.documents.proposal(proposalId, this.#life?.signal)
      this.#receive(() => this.patch({ proposals: withProposal(this.get().proposals, proposal) }))
    } catch (reason) {
      if (reason instanceof Gone) this.#receive(() => this.#without(({ id }) => id === proposalId))
    }
  }

  /** A stream restarted after the last read: the changes in between are read again. */
  #begun(projectId: string): void {
    const { document } = this.get()
    if (document === null) this.#stale = true
    else if (document.project_id === projectId) this.reload()
  }

  #hearVersion(version: number): void {
    this.#heard = Math.max(this.#heard, version)
    if (!this.#loaded || this.#heard <= this.#confirmed.version) return
    if (this.#underway.length === 0) return this.#catchUp()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#catchUp(), OWN_ANSWER_MS)
  }

  /** Reads changes since the current version until there are no more. */
  #catchUp(): void {
    const signal = this.#life?.signal
    if (signal === undefined || this.#reading || !this.#loaded || this.#heard <= this.#confirmed.version) return
    this.#reading = true
    this.client.documents.changes(this.documentId, this.#confirmed.version, signal).then(
      (changes) => {
        if (signal.aborted) return
        this.#reading = false
        if (this.#loadTimer === undefined) this.#fine()
        if (changes.version > this.#confirmed.version) {
          this.#confirmed = withChanges(this.#confirmed, changes)
          this.#show()
          this.#catchUp()
        } else this.#heard = this.#confirmed.version
      },
      (reason: unknown) => {
        if (signal.aborted) return
        this.#reading = false
        this.#failed(reason)
        clearTimeout(this.#timer)
        if (!(reason instanceof Gone)) this.#timer = setTimeout(() => this.#catchUp(), this.#pause())
      },
    )
  }

  /** Applies the response to our change: all changes since our version, unless a newer one was read meanwhile. */
  #absorb(answer: DocumentChanges): void {
    if (this.#loaded && answer.version > this.#confirmed.version) this.#confirmed = withChanges(this.#confirmed, answer)
    this.#heard = Math.max(this.#heard, answer.version)
  }

  #fine(): void {
    this.#failures = 0
    if (this.get().error !== null) this.patch({ error: null })
  }

  #without(gone: (proposal: ProposalData) => boolean): void {
    this.patch({ proposals: this.get().proposals.filter((one) => !gone(one)) })
  }

  #failed(reason: unknown): void {
    const error = reason instanceof Error ? reason : new Error(String(reason))
    if (error instanceof Gone) return this.patch({ gone: true, loading: false, error })
    this.#failures += 1
    this.patch({ error, loading: false })
  }

  #pause(): number {
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1))
  }

  #show(): void {
    const content = this.#underway.flat().reduce(foreseen, this.#confirmed)
    this.patch({ content, saving: this.#underway.length })
  }

  #present({ document_id, watching, typing, places }: Presence): void {
    if (document_id === this.documentId) this.patch({ presence: { watching, typing, places } })
  }

  #onEvent({ event, data }: OutlastEvent): void {
    switch (event) {
      case 'document.updated':
        if (data.document.id === this.documentId) {
          if (data.document.version >= (this.get().document?.version ?? 0)) this.patch({ document: data.document })
          this.#hearVersion(data.document.version)
        }
        return
      case 'document.deleted':
        return data.document_id === this.documentId ? this.patch({ gone: true }) : undefined
      case 'version.created':
        return data.version.document_id === this.documentId ? this.#hearVersion(data.version.version) : undefined
      case 'lock.acquired':
      case 'lock.released':
      case 'lock.requested':
      case 'lock.handed_over':
      case 'lock.taken_over':
        return data.document_id === this.documentId ? this.#hearLock(data.section_id, data.lock) : undefined
      case 'comment.created':
      case 'comment.updated':
        if (data.comment.document_id !== this.documentId) return
        return this.patch({ comments: withComment(this.get().comments, data.comment) })
      case 'comment.deleted':
        if (data.document_id !== this.documentId) return
        return this.patch({ comments: withoutComment(this.get().comments, data.comment_id) })
      case 'proposal.created':
        if (data.proposal.document_id !== this.documentId) return
        return this.patch({ proposals: withProposal(this.get().proposals, data.proposal) })
      case 'thread.deleted': // its agent's proposals are deleted with it
        return this.#without((one) => one.thread_id === data.thread_id)
      case 'edit.resolved':
      case 'edit.reopened':
      case 'edit.superseded':
        if (data.document_id !== this.documentId) return
        if (event === 'edit.reopened') void this.ensureProposal(data.proposal_id).catch(() => undefined)
        this.patch({ proposals: withEdits(this.get().proposals, data.edits) })
        // Open edits may have a new place now: after a text that was just inserted there.
        if (event === 'edit.resolved' && data.edits.some(puts) && this.#openEdits(data.proposal_id).length > 0)
          void this.#reread(data.proposal_id)
        return
      default:
    }
  }

  #hearLock(sectionId: string, lock: DocumentContent['sections'][string]['lock']): void {
    const section = this.#confirmed.sections[sectionId]
    if (section === undefined) return
    const sections = { ...this.#confirmed.sections, [sectionId]: { ...section, lock } }
    this.#confirmed = { ...this.#confirmed, sections }
    this.#show()
  }
}

const puts = ({ op, state }: EditData): boolean => state === 'accepted' && op !== 'replace' && op !== 'delete'

const byTime = (one: CommentData, other: CommentData): number =>
  one.created_at.localeCompare(other.created_at) || one.id.localeCompare(other.id)

/** All pages of a list. */
async function everything<T>(read: (next: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = []
  let next: string | null | undefined
  do {
    const page = await read(next ?? undefined)
    items.push(...page.items)
    next = page.next
  } while (next !== null && next !== undefined)
  return items
}
