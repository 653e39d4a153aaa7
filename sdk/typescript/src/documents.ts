/** Requests about documents (sections of Markdown blocks, versions, comments and proposals): `client.documents`.
 * Project files are in `artifacts.ts`. */
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
/** A request that is repeated under its key after a lost response changes nothing twice and gets the first response. */
interface Repeated {
  idempotencyKey?: string | undefined
}
const keyed = (key: string | undefined): { headers?: Record<string, string> } =>
  key === undefined ? {} : { headers: { 'idempotency-key': key } }

/** Requests about documents. To prompt the agent, start a run: `client.startRun(document.thread_id, …)`. */
export class Documents {
  constructor(readonly client: OutlastClient) {}

  /** In the order of creation; pass `next` as `after` for the next page. */
  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; after?: string } = {}) =>
    this.client.json<Page<DocumentData>>('GET', `/v1/projects/${projectId}/documents`, { query, signal })
  /** Creates its conversation too; `markdown` becomes sections and blocks. Repeating the key returns the first
   * response. */
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
  /** Appends the sections of a Markdown text, or replaces the document with them (but nothing newer than the version
   * `seen`). */
  import = (
    id: string,
    body: { markdown: string; after_section_id?: string | null; replace?: boolean; seen?: number },
    { idempotencyKey }: Repeated = {},
  ) => this.client.json<DocumentChanges>('POST', `/v1/documents/${id}/import`, { body, ...keyed(idempotencyKey) })

  /** All changes or none. A text that was changed meanwhile is merged; a real conflict is refused with `text_changed`
   * and the fields of `MergeData`. The response has all changes since version `since`, or only the result of these
   * changes without it. */
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
  /** Changes since a version. */
  changes = (id: string, since: number, signal?: AbortSignal) =>
    this.client.json<DocumentChanges>('GET', `/v1/documents/${id}/changes`, { query: { since }, signal })

  /** Newest first; pass `next` as `before` for the next page. */
  versions = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: number } = {}) =>
    this.client.json<{ items: DocumentVersion[]; next: number | null }>('GET', `/v1/documents/${id}/versions`, {
      query,
      signal,
    })
  /** The document at that version. */
  version = (id: string, version: number, signal?: AbortSignal) =>
    this.client.json<DocumentVersionView>('GET', `/v1/documents/${id}/versions/${version}`, { signal })
  diff = (id: string, from: number, to: number, signal?: AbortSignal) =>
    this.client.json<DocumentDifference>('GET', `/v1/documents/${id}/diff`, { query: { from, to }, signal })
  /** Creates a version with the content of an earlier one. Nothing newer than the version `seen` is replaced. */
  restore = (id: string, version: number, seen?: number) =>
    this.client.json<DocumentChanges>('POST', `/v1/documents/${id}/restore`, { body: { version, seen } })

  sectionLock = (sectionId: string, signal?: AbortSignal) =>
    this.client.json<{ lock: Lock | null }>('GET', `/v1/sections/${sectionId}/lock`, { signal })
  /** Only the holder can change the section until the lock is released or expires; each edit of the holder renews it.
   * */
  lockSection = (sectionId: string, takeOver = false) =>
    this.client.json<{ lock: Lock }>('PUT', `/v1/sections/${sectionId}/lock`, { body: { take_over: takeOver } })
  releaseSection = (sectionId: string) => this.client.json<void>('DELETE', `/v1/sections/${sectionId}/lock`)
  requestSection = (sectionId: string) =>
    this.client.json<{ lock: Lock }>('POST', `/v1/sections/${sectionId}/lock/request`)
  handOverSection = (sectionId: string, userId: string) =>
    this.client.json<{ lock: Lock }>('POST', `/v1/sections/${sectionId}/lock/handover`, { body: { user_id: userId } })

  /** The document's conversation, and those about parts of it. */
  threads = (id: string, signal?: AbortSignal) =>
    this.client.json<Page<Thread>>('GET', `/v1/documents/${id}/threads`, { signal })
  /** Reports your place to the other members. */
  present = (id: string, body: DocumentPlace, signal?: AbortSignal) =>
    this.client.json<void>('PUT', `/v1/documents/${id}/presence`, { body, signal })
  /** Members who have it open now; the project's stream reports changes. */
  presence = (id: string, signal?: AbortSignal) =>
    this.client.json<Presence>('GET', `/v1/documents/${id}/presence`, { signal })
  /** Reports to the other members that you closed it. */
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
  /** Assigning it to `agent` creates a conversation about the comment and starts a run in it. */
  assign = (
    commentId: string,
    body: { to: string | null; message?: string; model?: string },
    { idempotencyKey }: Repeated = {},
  ) => this.client.json<Assigned>('POST', `/v1/comments/${commentId}/assign`, { body, ...keyed(idempotencyKey) })

  /** Newest first; pass `next` as `before` for the next page. */
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
  /** Accepts all open edits that can be accepted, in one version. */
  acceptAll = (proposalId: string) => this.client.json<Decided>('POST', `/v1/proposals/${proposalId}/accept`)
  rejectAll = (proposalId: string) => this.client.json<Decided>('POST', `/v1/proposals/${proposalId}/reject`)
  /** Decides several edits in one version: all or none, or (`possible`) all that can be accepted. */
  decideAll = (proposalId: string, decisions: readonly ({ edit_id: string } & Decision)[], possible = false) =>
    this.client.json<Decided>('POST', `/v1/proposals/${proposalId}/decide`, { body: { decisions, possible } })
  decide = (editId: string, body: Decision) => this.client.json<Decided>('POST', `/v1/edits/${editId}`, { body })
  /** The text that accepting an edit would write now. */
  merge = (editId: string, signal?: AbortSignal) =>
    this.client.json<MergeData>('GET', `/v1/edits/${editId}/merge`, { signal })

  readMention = (mentionId: string) => this.client.json<void>('POST', `/v1/mentions/${mentionId}/read`)
  /** A thread with its ancestors and all forks of them. */
  family = (threadId: string, signal?: AbortSignal) =>
    this.client.json<Page<FamilyThread>>('GET', `/v1/threads/${threadId}/family`, { signal })
  /** Starts a run and waits for its result. Disconnecting does not end the run. */
  runAgent = (body: AgentRunRequest, { signal, idempotencyKey }: Signalled & Repeated = {}) =>
    this.client.json<AgentRunAnswer | AgentRunWaiting>('POST', '/v1/agent/run', {
      body,
      signal,
      ...keyed(idempotencyKey),
    })
}
