/** The event log: what each event carries. The list is closed, as in the server's `base/events.py`. */
import type { ArtifactData } from './artifacts.ts'
import type { CommentData, DocumentData, DocumentVersion, EditData, ProposalData } from './documents.ts'
import type { KnowledgeSource } from './knowledge.ts'
import type { ModuleData, PageAction, PageData, PageHtml, PagePatched, PageStats } from './pages.ts'
import type { ScreenData, WorkflowStep } from './screens.ts'
import type {
  RunStatus,
  ToolStatus,
  Part,
  Usage,
  RunError,
  Lock,
  Approval,
  Question,
  Message,
  Thread,
  Member,
  ServiceState,
  Sandbox,
  InboxKind,
  Checkpoint,
} from './types.ts'

/** Of a thread, or (then `thread_id` is empty) of a section of a document; `lock` null: nobody holds it. */
export interface LockChanged {
  thread_id: string
  section_id: string
  document_id: string
  lock: Lock | null
}

interface Data {
  'run.queued': {
    run_id: string
    thread_id: string
    message_id: string
    profile: string
    model: string
    started_by: string
    after_run_id: string | null
    parent_run_id: string | null
  }
  'run.started': { run_id: string; attempt: number }
  'run.status': {
    run_id: string
    status: RunStatus
    waiting_for: 'approval' | 'answer' | null
    retry_at: string | null
    reason: string | null
  }
  'run.completed': {
    run_id: string
    message_id: string | null
    stop_reason: string
    problems: string[]
    usage: Usage
    credits: number
  }
  'run.error': { run_id: string; message_id: string | null; stop_reason: string; error: RunError }
  'run.cancelled': { run_id: string; message_id: string | null; stop_reason: string; by: string | null }
  'stream.ended': { run_id: string }
  'step.started': { run_id: string; step: number; attempt: number }
  'step.completed': { run_id: string; step: number; finish: string; usage: Usage }
  'step.reset': { run_id: string; step: number; attempt: number; parts: Part[] }
  'part.created': { part: Part }
  'part.completed': { part: Part }
  'part.snapshot': { part: Part }
  'text.delta': { part_id: string; delta: string }
  'reasoning.delta': { part_id: string; delta: string }
  'tool_call.arguments.delta': { part_id: string; delta: string }
  'tool_call.output.delta': { part_id: string; delta: string }
  'tool_call.result': {
    part_id: string
    call_id: string
    status: ToolStatus
    result: string
    duration_s: number | null
  }
  'approval.requested': { approval: Approval }
  'approval.resolved': {
    approval_id: string
    part_id: string
    decision: 'approve' | 'deny' | 'cancelled'
    reason: string
    by: string | null
    arguments: string | null
    remember: 'thread' | null
  }
  'question.asked': { question: Question }
  'question.answered': {
    question_id: string
    part_id: string
    answers: Record<string, unknown>
    by: string | null
    cancelled: boolean
  }
  'files.changed': {
    run_id: string | null
    workspace_id: string
    files: { path: string; size_bytes: number | null; change: 'written' | 'deleted' }[]
  }
  'sandbox.state': {
    sandbox_id: string
    workspace_id: string
    state: Sandbox['state']
    pause_kind: Sandbox['pause_kind']
    reason: string | null
    services: ServiceState[]
  }
  'checkpoint.created': { checkpoint: Checkpoint }
  'context.lost': { workspace_id: string; sandbox_id: string; text: string }
  'snapshot.progress': {
    name: string
    state: 'building' | 'ready' | 'failed'
    step: string
    output: string
    error: string | null
    older: boolean
    template: string
  }
  'credit.settled': { run_id: string; kind: 'settle' | 'release'; credits: number; balance: number | null }
  'credit.low': { balance: number }
  'message.created': { message: Message }
  'thread.updated': { thread: Thread }
  'thread.deleted': { thread_id: string }
  'lock.acquired': LockChanged
  'lock.released': LockChanged
  'lock.requested': LockChanged
  'lock.handed_over': LockChanged
  'lock.taken_over': LockChanged
  'member.added': { member: Member }
  'member.changed': { member: Member }
  'member.removed': { user_id: string }
  'screen.created': { screen: ScreenData; by: string | null }
  'screen.updated': { screen: ScreenData; by: string | null }
  'screen.deleted': { screen_id: string }
  'workflow.step': WorkflowStep
  'page.created': { page: PageData; by: string | null }
  'page.updated': { page: PageData; by: string | null }
  'page.deleted': { page_id: string }
  'page.patch': PagePatched
  'page.html': PageHtml
  'page.stats': PageStats
  'page.action': { action: PageAction }
  'modules.saved': { run_id: string; workspace_id: string; modules: ModuleData[] }
  'knowledge.updated': { source: KnowledgeSource }
  'knowledge.removed': { source_id: string }
  'document.created': { document: DocumentData; by: string | null }
  'document.updated': { document: DocumentData; by: string | null }
  'document.deleted': { document_id: string }
  'version.created': { version: DocumentVersion }
  'comment.created': { comment: CommentData; by: string | null }
  'comment.updated': { comment: CommentData; by: string | null }
  'comment.deleted': { comment_id: string; document_id: string }
  'proposal.created': { proposal: ProposalData }
  'edit.resolved': {
    proposal_id: string
    document_id: string
    edits: EditData[]
    version: number | null
    by: string | null
  }
  'edit.reopened': {
    proposal_id: string
    document_id: string
    edits: EditData[]
    version: number | null
    by: string | null
  }
  'edit.superseded': { proposal_id: string; document_id: string; edits: EditData[] }
  'artifact.created': { artifact: ArtifactData; by: string | null }
  'artifact.updated': { artifact: ArtifactData; by: string | null }
  'artifact.deleted': { artifact_id: string }
  'inbox.changed': { user_id: string | null; kind: InboxKind; item: Record<string, unknown> | null }
  'project.updated': { project_id: string; name: string }
}
export type EventName = keyof Data
export type OutlastEvent = {
  [K in EventName]: { id: string; event: K; data: Data[K]; timestamp: string; sequenceNumber: number }
}[EventName]
export type EventData<K extends EventName> = Data[K]

/** Shown, never logged: who has the thread, the project or (with `document_id`) a document open, and the user ids of those
 * who write. `places`: the block of the document that a user (by id) is at. */
export interface Presence {
  thread_id: string
  project_id: string
  document_id: string
  places: Record<string, string>
  watching: Member[]
  typing: string[]
}
