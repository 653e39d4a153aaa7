/** Documents: sections of Markdown blocks, their history, comments, and what agents propose: the requests,
 * as `client.documents`. Project files are in `artifacts.ts`. */
import type {
  AgentRunAnswer,
  AgentRunRequest,
  AgentRunWaiting,
  Assigned,
  CommentData,
  Decided,
  Decision,
  DocumentChange,
  DocumentChanges,
  DocumentData,
  DocumentDifference,
  DocumentPlace,
  DocumentVersion,
  DocumentVersionView,
  DocumentView,
  FamilyThread,
  Lock,
  MergeData,
  NewComment,
  Page,
  Presence,
  ProposalData,
  Thread,
} from './api.gen.ts'
import type { OutlastClient } from './client.ts'

interface Signalled {
  signal?: AbortSignal | undefined
}
/** A request that is sent again under its key, for its answer was lost, changes nothing twice and gets the first answer. */
interface Repeated {
  idempotencyKey?: string | undefined
}
const keyed = (key: string | undefined): { headers?: Record<string, string> } =>
  key === undefined ? {} : { headers: { 'idempotency-key': key } }

/** The requests about documents. A prompt is a run of one of its threads: `client.startRun(document.thread_id, …)`. */
export class Documents {
  constructor(readonly client: OutlastClient) {}

  /** In the order in which they were made; with `next` as `after` the following ones. */
  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; after?: string } = {}) =>
    this.client.json<Page<DocumentData>>('GET', `/v1/projects/${projectId}/documents`, { query, signal })
  /** With its own conversation; `markdown` becomes sections and blocks. The same key again gives the first answer. */
  create = (
    projectId: string,
    body: { title?: string; markdown?: string },
    idempotencyKey: string = crypto.randomUUID(),
  ) => this.client.json<DocumentView>('POST', `/v1/projects/${projectId}/documents`, { body, ...keyed(idempotencyKey) })
  get = (id: string, signal?: AbortSignal) => this.client.json<DocumentView>('GET', `/v1/documents/${id}`, { signal })
  rename = (id: string, title: string) =>
    this.client.json<DocumentData>('PATCH', `/v1/documents/${id}`, { body: { title } })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/documents/${id}`)
  markdown = (id: string, { signal, ...query }: Signalled & { version?: number } = {}): Promise<string> =>
    this.client.send('GET', `/v1/documents/${id}/markdown`, { query, signal }).then((one) => one.text())
  markdownUrl = (id: string, version?: number) =>
    this.client.url(`/v1/documents/${id}/markdown`, { version, download: 1 })
  /** Adds the sections of a Markdown text, or makes them the whole document (then nothing newer than the version `seen`
   * is replaced). */
  import = (
    id: string,
    body: { markdown: string; after_section_id?: string | null; replace?: boolean; seen?: number },
    { idempotencyKey }: Repeated = {},
  ) => this.client.json<DocumentChanges>('POST', `/v1/documents/${id}/import`, { body, ...keyed(idempotencyKey) })

  /** All of them, or none. A text that somebody changed meanwhile is merged; a real conflict is refused with
   * `text_changed` and the fields of `MergeData`. The answer tells all that is new since version `since`; without it,
   * what these changes made. */
  change = (
    id: string,
    changes: readonly DocumentChange[],
    summary?: string,
    { since, idempotencyKey }: Repeated & { since?: number | undefined } = {},
  ) =>
    this.client.json<DocumentChanges>('POST', `/v1/documents/${id}/changes`, {
      body: { changes, summary, since },
      ...keyed(idempotencyKey),
    })
  /** What is new since a version. */
  changes = (id: string, since: number, signal?: AbortSignal) =>
    this.client.json<DocumentChanges>('GET', `/v1/documents/${id}/changes`, { query: { since }, signal })

  /** Newest first; with `next` as `before` the older ones. */
  versions = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: number } = {}) =>
    this.client.json<{ items: DocumentVersion[]; next: number | null }>('GET', `/v1/documents/${id}/versions`, {
      query,
      signal,
    })
  /** As it was then. */
  version = (id: string, version: number, signal?: AbortSignal) =>
    this.client.json<DocumentVersionView>('GET', `/v1/documents/${id}/versions/${version}`, { signal })
  diff = (id: string, from: number, to: number, signal?: AbortSignal) =>
    this.client.json<DocumentDifference>('GET', `/v1/documents/${id}/diff`, { query: { from, to }, signal })
  /** A new version with the content of an earlier one. Nothing newer than the version `seen` is replaced. */
  restore = (id: string, version: number, seen?: number) =>
    this.client.json<DocumentChanges>('POST', `/v1/documents/${id}/restore`, { body: { version, seen } })

  sectionLock = (sectionId: string, signal?: AbortSignal) =>
    this.client.json<{ lock: Lock | null }>('GET', `/v1/sections/${sectionId}/lock`, { signal })
  /** Nobody else changes the section until it is released or expires; each edit of the holder renews it. */
  lockSection = (sectionId: string, takeOver = false) =>
    this.client.json<{ lock: Lock }>('PUT', `/v1/sections/${sectionId}/lock`, { body: { take_over: takeOver } })
  releaseSection = (sectionId: string) => this.client.json<void>('DELETE', `/v1/sections/${sectionId}/lock`)
  requestSection = (sectionId: string) =>
    this.client.json<{ lock: Lock }>('POST', `/v1/sections/${sectionId}/lock/request`)
  handOverSection = (sectionId: string, userId: string) =>
    this.client.json<{ lock: Lock }>('POST', `/v1/sections/${sectionId}/lock/handover`, { body: { user_id: userId } })

  /** Its own conversation, and those about parts of it. */
  threads = (id: string, signal?: AbortSignal) =>
    this.client.json<Page<Thread>>('GET', `/v1/documents/${id}/threads`, { signal })
  /** Tells the others where one is. */
  present = (id: string, body: DocumentPlace, signal?: AbortSignal) =>
    this.client.json<void>('PUT', `/v1/documents/${id}/presence`, { body, signal })
  /** Who has it open now; changes come with the project's stream. */
  presence = (id: string, signal?: AbortSignal) =>
    this.client.json<Presence>('GET', `/v1/documents/${id}/presence`, { signal })
  /** Tells the others that one closed it. */
  leave = (id: string) => this.client.json<void>('DELETE', `/v1/documents/${id}/presence`)

  comments = (
    id: string,
    {
      signal,
      ...query
    }: Signalled & { status?: 'open' | 'resolved' | 'all'; limit?: number; after?: string | undefined } = {},
  ) => this.client.json<Page<CommentData>>('GET', `/v1/documents/${id}/comments`, { query, signal })
  comment = (id: string, body: NewComment, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<CommentData>('POST', `/v1/documents/${id}/comments`, { body, ...keyed(idempotencyKey) })
  getComment = (commentId: string, signal?: AbortSignal) =>
    this.client.json<CommentData>('GET', `/v1/comments/${commentId}`, { signal })
  changeComment = (
    commentId: string,
    body: { body?: string; status?: CommentData['status']; linked_sections?: string[] },
  ) => this.client.json<CommentData>('PATCH', `/v1/comments/${commentId}`, { body })
  deleteComment = (commentId: string) => this.client.json<void>('DELETE', `/v1/comments/${commentId}`)
  /** To `agent`: a conversation about the comment, and a run in it. */
  assign = (
    commentId: string,
    body: { to: string | null; message?: string; model?: string },
    { idempotencyKey }: Repeated = {},
  ) => this.client.json<Assigned>('POST', `/v1/comments/${commentId}/assign`, { body, ...keyed(idempotencyKey) })

  /** Newest first; with `next` as `before` the older ones. */
  proposals = (
    id: string,
    {
      signal,
      ...query
    }: Signalled & { state?: 'open' | 'closed' | 'all'; limit?: number; before?: string | undefined } = {},
  ) => this.client.json<Page<ProposalData>>('GET', `/v1/documents/${id}/proposals`, { query, signal })
  threadProposals = (threadId: string, signal?: AbortSignal) =>
    this.client.json<Page<ProposalData>>('GET', `/v1/threads/${threadId}/proposals`, { signal })
  proposal = (proposalId: string, signal?: AbortSignal) =>
    this.client.json<ProposalData>('GET', `/v1/proposals/${proposalId}`, { signal })
  /** Everything that is open and can be accepted, in one version. */
  acceptAll = (proposalId: string) => this.client.json<Decided>('POST', `/v1/proposals/${proposalId}/accept`)
  rejectAll = (proposalId: string) => this.client.json<Decided>('POST', `/v1/proposals/${proposalId}/reject`)
  /** Several at once, in one version: all or none, or (`possible`) all that can be accepted. */
  decideAll = (proposalId: string, decisions: readonly ({ edit_id: string } & Decision)[], possible = false) =>
    this.client.json<Decided>('POST', `/v1/proposals/${proposalId}/decide`, { body: { decisions, possible } })
  decide = (editId: string, body: Decision) => this.client.json<Decided>('POST', `/v1/edits/${editId}`, { body })
  /** What accepting an edit would write now. */
  merge = (editId: string, signal?: AbortSignal) =>
    this.client.json<MergeData>('GET', `/v1/edits/${editId}/merge`, { signal })

  readMention = (mentionId: string) => this.client.json<void>('POST', `/v1/mentions/${mentionId}/read`)
  /** A thread with its ancestors and all forks of them. */
  family = (threadId: string, signal?: AbortSignal) =>
    this.client.json<Page<FamilyThread>>('GET', `/v1/threads/${threadId}/family`, { signal })
  /** Starts a run and waits for what comes of it. Going away does not end the run. */
  runAgent = (body: AgentRunRequest, { signal, idempotencyKey }: Signalled & Repeated = {}) =>
    this.client.json<AgentRunAnswer | AgentRunWaiting>('POST', '/v1/agent/run', {
      body,
      signal,
      ...keyed(idempotencyKey),
    })
}
