/** Documents: sections of Markdown blocks, their history, comments, and what agents propose. Types as the server sends
 * them, and the requests, as `client.documents`. Project files are in `artifacts.ts`. */
import type { OutlastClient } from './client.ts'
import type { Lock, Page, Pending, Thread, ToolStatus } from './types.ts'

// --- content

export type BlockKind = 'paragraph' | 'list' | 'code' | 'table' | 'quote' | 'rule' | 'html' | 'front_matter'
export type EditorKind = 'person' | 'agent'

/** One block of Markdown. `version` is the document's version that changed it last. */
export interface BlockData {
  id: string
  section_id: string
  kind: BlockKind
  markdown: string
  version: number
  /** An agent's text that a person accepted has `agent`, and whoever accepted it. */
  editor_kind: EditorKind
  editor_id: string | null
  editor_name: string | null
  updated_at: string
}
/** A heading and the blocks below it, in order. Level 0: what stands before the first heading. */
export interface SectionData {
  id: string
  document_id: string
  heading: string
  level: number
  version: number
  lock: Lock | null
  blocks: BlockData[]
}
export type SectionHead = Omit<SectionData, 'blocks'>
/** A document as lists and events show it; `version` counts its changes. `thread_id` is its own conversation. */
export interface DocumentData {
  id: string
  project_id: string
  thread_id: string
  title: string
  version: number
  words: number
  open_comments: number
  open_edits: number
  active_run_id: string | null
  created_by: string
  created_at: string
  updated_at: string
}
export interface DocumentView extends DocumentData {
  sections: SectionData[]
}

/** One change; several are made together or not at all. `old` is the text that it started from, `ref` a name under which
 * the answer's `made` tells the new id, and which later changes may use for it. `after` null: first. `section_id` null: before the first heading. */
export type DocumentChange =
  | { op: 'insert_block'; section_id: string | null; after: string | null; markdown: string; ref?: string }
  | { op: 'edit_block'; block_id: string; markdown: string; old: string }
  | { op: 'move_block'; block_id: string; section_id: string | null; after: string | null }
  | { op: 'delete_block'; block_id: string; old: string }
  | {
      op: 'insert_section'
      after: string | null
      heading: string
      level: number
      markdown?: string
      ref?: string
    }
  | { op: 'edit_section'; section_id: string; heading?: string; level?: number; old?: string }
  /** `whole`: with those below it in the outline. */
  | { op: 'move_section'; section_id: string; after: string | null; whole?: boolean }
  /** `keep_blocks`: they join the section before it. `seen`: the version that one saw; newer text is not deleted. */
  | { op: 'delete_section'; section_id: string; keep_blocks?: boolean; seen?: number }

/** What became of a document between two versions: everything that is new or other, the ids that are gone, and the order
 * wherever it may have changed. */
export interface DocumentChanges {
  version: number
  /** New ids by the `ref` of the change that made them. */
  made: Record<string, string>
  sections: SectionHead[]
  blocks: BlockData[]
  /** Ids of sections and blocks. */
  removed: string[]
  /** All sections, in order; null: as before. */
  section_order: string[] | null
  /** By section: all its blocks, in order. Sections that are not named keep theirs. */
  block_order: Record<string, string[]>
}

// --- history

export type DocumentVersionKind = 'created' | 'edit' | 'agent' | 'import' | 'restore'
/** One line of a document's history. `by`: who wrote, or who accepted what an agent wrote. */
export interface DocumentVersion {
  document_id: string
  version: number
  kind: DocumentVersionKind
  summary: string
  by: string | null
  by_name: string | null
  thread_id: string | null
  message_id: string | null
  run_id: string | null
  proposal_id: string | null
  sections: string[]
  blocks: string[]
  created_at: string
}
export interface DocumentVersionView extends DocumentVersion {
  content: SectionData[]
}
export type DiffState = 'same' | 'added' | 'removed' | 'changed' | 'moved'
export interface BlockDifference {
  id: string
  state: DiffState
  before: string | null
  after: string | null
}
export interface SectionDifference {
  id: string
  state: DiffState
  heading_before: string | null
  heading_after: string | null
  blocks: BlockDifference[]
}
export interface DocumentDifference {
  from: number
  to: number
  sections: SectionDifference[]
}

// --- comments

/** Selected text in a block, found again by what stands around it. */
export interface Quote {
  text: string
  prefix: string
  suffix: string
}
/** A remark on a document, a section, a block or a quote of it; with `parent_id` an answer to another one.
 * `assigned_to`: a user's id, or `agent`; then `thread_id` is the conversation about it. */
export interface CommentData {
  id: string
  document_id: string
  project_id: string
  /** null: on the whole document, or its section is gone (`orphaned`). */
  section_id: string | null
  block_id: string | null
  quote: Quote | null
  orphaned: boolean
  linked_sections: string[]
  parent_id: string | null
  body: string
  /** User ids. */
  mentions: string[]
  status: 'open' | 'resolved'
  assigned_to: string | null
  assigned_name: string | null
  thread_id: string | null
  /** null: an agent wrote it. */
  by: string | null
  by_name: string | null
  resolved_by: string | null
  resolved_by_name: string | null
  resolved_at: string | null
  created_at: string
  updated_at: string
}
export interface NewComment {
  body: string
  section_id?: string | null
  block_id?: string | null
  quote?: Quote | null
  parent_id?: string | null
  linked_sections?: string[]
  mentions?: string[]
  /** `agent`, or a user's id. */
  assign?: string | null
}
export interface Assigned {
  comment: CommentData
  thread_id: string | null
  run_id: string | null
}

// --- proposals

export type EditOp = 'replace' | 'insert' | 'delete' | 'move' | 'insert_section'
export type ProposedState = 'open' | 'accepted' | 'rejected' | 'superseded'
/** One proposed change. `old_text` is what the block said when it was proposed; `applied_text` what was written. */
export interface EditData {
  id: string
  proposal_id: string
  document_id: string
  ordinal: number
  op: EditOp
  block_id: string | null
  section_id: string | null
  after_id: string | null
  heading: string | null
  level: number | null
  old_text: string
  new_text: string
  state: ProposedState
  applied_text: string | null
  decided_by: string | null
  decided_by_name: string | null
  decided_at: string | null
  version: number | null
  /** An edit's id, or a version (`version:12`); `reason` says it in words. */
  superseded_by: string | null
  reason: string
  /** How often a decision was taken back: a higher count is newer news. */
  reopened: number
  /** Of a copy in a fork: the edit that it is a copy of. */
  origin_id: string | null
}
/** What an agent would like to change, waiting for a person. Closed once no edit is open. */
export interface ProposalData {
  id: string
  project_id: string
  document_id: string
  thread_id: string
  message_id: string | null
  run_id: string | null
  summary: string
  state: 'open' | 'closed'
  edits: EditData[]
  created_at: string
}
/** `text`: what is written instead of what was proposed. `old`: the block's text that `text` was made from, after
 * `text_changed`. `reopen` takes a decision back, the one made at `decided_at`. */
export interface Decision {
  decision: 'accept' | 'reject' | 'reopen'
  text?: string
  old?: string
  decided_at?: string
}
/** An edit that could not be accepted and stays open. */
export interface LeftEdit {
  edit_id: string
  code: 'text_changed' | 'section_locked'
  message: string
}
/** `version`: what came of it; null: the text is as it was. `left`: what could not be accepted. */
export interface Decided {
  version: number | null
  edits: EditData[]
  left: LeftEdit[]
}
/** One place where a text and what somebody wanted of it differ. `conflict`: both changed it, differently. */
export interface MergeHunk {
  kind: 'same' | 'current' | 'wanted' | 'both' | 'conflict'
  base: string
  current: string
  wanted: string
}
/** `text`: what accepting would write; null: there is a conflict. */
export interface MergeData {
  base: string
  current: string
  wanted: string
  text: string | null
  hunks: MergeHunk[]
}

// --- people

export interface DocumentPlace {
  block_id: string | null
  typing: boolean
}
/** Who has a document open: shown, never logged. `places`: the block that a user (by id) is at. */
export interface DocumentPresence {
  document_id: string
  project_id: string
  watching: { user_id: string; name: string }[]
  typing: string[]
  places: Record<string, string>
}
/** A thread and its forks, parents before children. */
export interface FamilyThread {
  id: string
  title: string
  parent_thread_id: string | null
  parent_message_id: string | null
  status: Thread['status']
  run_status: Thread['run_status']
  message_count: number
  created_by: string
  created_by_name: string | null
  created_at: string
}

// --- start and wait (names as seed 004 writes them)

export interface AgentRunRequest {
  context: { threadId: string } & Record<string, unknown>
  userMessage: string
  model?: string
  /** How long to wait, in seconds; the run goes on afterwards. */
  timeoutS?: number
}
export interface AgentRunEdit {
  editId: string
  op: EditOp
  blockId: string | null
  sectionId: string | null
  afterId: string | null
  heading: string | null
  level: number | null
  oldText: string
  newText: string
}
export interface AgentRunAnswer {
  message: string
  proposedEdits: AgentRunEdit[]
  toolCalls: { id: string; tool: string; arguments: unknown; status: ToolStatus; result: string | null }[]
  proposalId: string | null
  threadId: string
  runId: string
  messageId: string | null
}
/** The run has not ended (HTTP status 202): it waits for a person, or goes on (`pending` null). */
export interface AgentRunWaiting {
  pending: Pending | null
  status: 'queued' | 'running' | 'awaiting_approval' | 'paused'
  threadId: string
  runId: string
}

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
    this.client.json<DocumentPresence>('GET', `/v1/documents/${id}/presence`, { signal })
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
