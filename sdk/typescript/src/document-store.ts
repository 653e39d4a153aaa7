/**
 * One open document kept in step: its content, comments, proposals and who is there. It hears the project's stream, which
 * somebody else keeps open (`ProjectStore`), and reads what is new since the version it has; so nothing is missed, however
 * often the connection breaks. What one does is shown at once, and taken back where the server refuses it.
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
  /** As it is shown: with changes that the server has not answered yet. */
  content: DocumentContent
  /** Open and resolved ones, oldest first. */
  comments: readonly CommentData[]
  /** Those that were open when it was loaded, and all that came since; oldest first. */
  proposals: readonly ProposalData[]
  presence: Pick<Presence, 'watching' | 'typing' | 'places'>
  /** Edits whose decision the server has not answered yet. */
  deciding: Readonly<Record<string, 'accept' | 'reject'>>
  /** Changes that the server has not answered yet. */
  saving: number
  loading: boolean
  /** Why it, or what is new in it, could not be read; it is tried again. */
  error: Error | null
  /** It was deleted, or is none of this person's. */
  gone: boolean
}

const NOBODY: DocumentSnapshot['presence'] = { watching: [], typing: [], places: {} }
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 10_000
/** How long an answer of our own may take before its news is read like another's. */
const OWN_ANSWER_MS = 300
const PRESENCE_PAUSE_MS = 400

type Edited = readonly DocumentChange[]

export class DocumentStore extends Store<DocumentSnapshot> {
  /** What the server has confirmed. */
  #confirmed: DocumentContent = NO_CONTENT
  /** In the order in which they were made; sent one after the other. */
  #underway: Edited[] = []
  #queue: Promise<unknown> = Promise.resolve()
  #life: AbortController | null = null
  #loaded = false
  #stale = false
  /** The newest version that we heard of. */
  #heard = -1
  #reading = false
  #failures = 0
  /** Counts the readings of everything: only the newest one is shown. */
  #loads = 0
  /** What was heard while everything is being read: it may be newer than what the server is about to answer. */
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
      presence: NOBODY,
      deciding: {},
      saving: 0,
      loading: true,
      error: null,
      gone: false,
    })
  }

  /** Loads the document, or what was missed while it was stopped. Harmless when already running. */
  start(): void {
    if (this.#life !== null) return
    this.#life = new AbortController()
    const stops = [
      this.client.listen((event) => this.#told(() => this.#hear(event))),
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

  /** The stream that brings the news rests while the page is hidden, and goes on where it was. */
  rest(): void {}
  peek = (): Promise<void> => Promise.resolve()

  /** Reads everything again. */
  reload = (): void => {
    this.#failures = 0
    if (this.#life !== null) void this.#load(this.#life.signal)
  }

  // --- writing

  /** Shows changes at once, sends them after those before them, and answers what the server made of them. Refused: they
   * are taken back, and the reason is thrown (`text_changed`, `section_locked` …). New blocks are known by their `ref`
   * until they have an id; later changes may name them by it. Sent again under the same key, the same changes are made
   * once. */
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

  /** Puts a Markdown text at the end, and shows what the server made of it. Sent again under the same key, it is put there
   * once. */
  import = async (markdown: string, idempotencyKey: string): Promise<DocumentChanges> => {
    const answer = await this.client.documents.import(this.documentId, { markdown }, { idempotencyKey })
    if (this.#confirmed.version >= 0) this.#hearVersion(answer.version)
    return answer
  }

  /** Keeps a name for a block that was made without one. */
  name = (ref: string, id: string): void => {
    this.#name(ref, id)
    this.#show()
  }

  /** A name of a block or section that stays the same when the server gives it its id: for keys of lists. */
  keyOf = (id: string): string => this.#refs.get(id) ?? id

  /** The id of what was made under a `ref`; the same text where it is an id, or has none yet. */
  idOf = (ref: string): string => this.#ids.get(ref) ?? ref

  /** Shown as decided at once; thrown and taken back where it is refused. */
  decide = (editId: string, decision: Decision): Promise<Decided> =>
    this.#deciding([editId], decision.decision, () => this.client.documents.decide(editId, decision))

  /** Several edits of a proposal, all that can be accepted. */
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

  /** Takes decisions about edits of a proposal back: they are open again, and what was accepted leaves the text. Refused
   * where somebody decided anew since. */
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

  /** Makes sure that a proposal is known, also a closed one. */
  ensureProposal = async (proposalId: string): Promise<void> => {
    if (this.get().proposals.some(({ id }) => id === proposalId)) return
    const proposal = await this.client.documents.proposal(proposalId)
    this.#told(() => this.patch({ proposals: withProposal(this.get().proposals, proposal) }))
  }

  /** Takes in what an answer told of a comment, before the stream does. */
  tellComment = (comment: CommentData): void => {
    this.#told(() => this.patch({ comments: withComment(this.get().comments, comment) }))
    this.tell()
  }

  /** Tells the others where one is, a little later and only the last of many places. Whoever types says so again every few
   * seconds; `again` repeats any place. */
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
      this.#told(() => this.patch({ proposals: withEdits(this.get().proposals, decided.edits) }))
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

  /** A change with ids for the refs that have become some. */
  #named(change: DocumentChange): DocumentChange {
    const named: Record<string, unknown> = { ...change }
    for (const key of ['block_id', 'section_id', 'after'])
      if (typeof named[key] === 'string') named[key] = this.idOf(named[key])
    return named as unknown as DocumentChange
  }

  // --- reading

  /** Takes news in, and once more after what is being read, which may be older. News may come twice. */
  #told(news: () => void): void {
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

  /** Who is here already: the stream tells only of changes. */
  #meet(signal: AbortSignal): void {
    this.client.documents.presence(this.documentId, signal).then(
      (presence) => {
        if (!signal.aborted) this.#present(presence)
      },
      () => undefined,
    )
  }

  /** A proposal that is not listed among the open ones any more: what became of it. */
  async #reread(proposalId: string): Promise<void> {
    try {
      const proposal = await this.client.documents.proposal(proposalId, this.#life?.signal)
      this.#told(() => this.patch({ proposals: withProposal(this.get().proposals, proposal) }))
    } catch (reason) {
      if (reason instanceof Gone) this.#told(() => this.#without(({ id }) => id === proposalId))
    }
  }

  /** A stream began behind what we may have read: what lies between is read again. */
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

  /** Reads what is new since the version we have, until there is nothing. */
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

  /** The answer to a change of ours: all that is new since what we had, unless something newer was read meanwhile. */
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

  #hear({ event, data }: OutlastEvent): void {
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
      case 'thread.deleted': // what its agent proposed went with it
        return this.#without((one) => one.thread_id === data.thread_id)
      case 'edit.resolved':
      case 'edit.reopened':
      case 'edit.superseded':
        if (data.document_id !== this.documentId) return
        if (event === 'edit.reopened') void this.ensureProposal(data.proposal_id).catch(() => undefined)
        this.patch({ proposals: withEdits(this.get().proposals, data.edits) })
        // What is still open may have another place now: behind a text that was just put there.
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
