/** What travels over the wire: the shapes of the HTTP API and of the event log (field names as the server sends them). */
import type { ModuleData, PagePart, PageStats } from './pages.ts'
import type { WorkflowStep } from './screens.ts'
export type * from './events.ts'

export type Role = 'owner' | 'editor' | 'viewer'
export type RunStatus = 'queued' | 'running' | 'awaiting_approval' | 'paused' | 'completed' | 'cancelled' | 'error'
export type ThreadRunStatus = 'idle' | 'generating' | 'awaiting_approval' | 'paused' | 'complete' | 'error'
export type ToolStatus =
  'streaming' | 'pending' | 'waiting' | 'running' | 'done' | 'error' | 'denied' | 'interrupted' | 'cancelled'

// --- parts of a message

export interface TextPart {
  type: 'text'
  id: string
  step: number
  text: string
}
export interface ReasoningPart {
  type: 'reasoning'
  id: string
  step: number
  text: string
}
export interface ToolCallPart {
  type: 'tool_call'
  id: string
  step: number
  call_id: string
  tool: string
  /** JSON text; incomplete while `status` is `streaming`. */
  arguments: string
  status: ToolStatus
  output: string
  result: string | null
  approval_id: string | null
  duration_s: number | null
}
export interface ImagePart {
  type: 'image'
  id: string
  step: number
  attachment_id: string
  media_type: string
  name: string
  width: number | null
  height: number | null
}
export interface NoticePart {
  type: 'notice'
  id: string
  step: number
  level: 'info' | 'warning' | 'error'
  code: string
  text: string
}
/** What an agent proposed to change in a document. */
export interface ProposalPart {
  type: 'proposal'
  id: string
  step: number
  proposal_id: string
  document_id: string
  /** How many. */
  edits: number
  summary: string
}
export type Part = TextPart | ReasoningPart | ToolCallPart | ImagePart | NoticePart | PagePart | ProposalPart

// --- nouns

export interface Usage {
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  reasoning_tokens: number
  cost_usd: number | null
}
export interface RunError {
  code: string
  message: string
  hint: string
  retry_after_s: number | null
}
export interface Lock {
  resource_type: 'thread' | 'section'
  resource_id: string
  holder_id: string
  holder_name: string
  acquired_at: string
  expires_at: string
  requested_by: string | null
  requested_by_name: string | null
}
export interface Approval {
  id: string
  run_id: string
  thread_id: string
  part_id: string
  call_id: string
  tool: string
  arguments: string
  reason: string
  created_at: string
}
export interface QuestionItem {
  id: string
  question: string
  options: string[]
  multiple: boolean
  placeholder: string
}
export interface Question {
  id: string
  run_id: string
  thread_id: string
  part_id: string
  call_id: string
  questions: QuestionItem[]
  created_at: string
}
export type Pending = ({ kind: 'approval' } & Approval) | ({ kind: 'question' } & Question)

export interface Message {
  id: string
  thread_id: string
  /** Orders a thread's messages. */
  position: number
  role: 'user' | 'assistant' | 'tool' | 'system'
  sender_id: string | null
  sender_name: string | null
  status: 'complete' | 'partial' | 'cancelled' | 'error'
  parts: Part[]
  model: string | null
  run_id: string | null
  credits: number | null
  error: RunError | null
  stop_reason: string | null
  created_at: string
}
export interface Thread {
  id: string
  project_id: string
  title: string
  profile: string
  status: 'open' | 'archived'
  run_status: ThreadRunStatus
  active_run_id: string | null
  sandbox_id: string | null
  anchor: Record<string, unknown> | null
  parent_thread_id: string | null
  parent_message_id: string | null
  lock: Lock | null
  message_count: number
  created_by: string
  created_at: string
  updated_at: string
  /** Only in search answers. */
  match?: { snippet: string; message_id: string | null }
}
export interface Member {
  user_id: string
  name: string
  role: Role
  created_at?: string
  /** For owners; a `balance` of null beside a plan is unlimited. */
  plan?: string | null
  balance?: number | null
}
/** A user as administrators see them; null: unlimited. */
export interface UserSummary {
  id: string
  name: string
  plan: string
  is_admin: boolean
  is_local: boolean
  balance: number | null
  allowance: number | null
  created_at: string
}
/** Work that failed again and again, and is not tried until an administrator says so. */
export interface SetAsideItem {
  kind: string
  id: string
  title: string
  since: string
  tries: number
  code: string
  reason: string
  deletable: boolean
}
export interface Project {
  id: string
  name: string
  role: Role
  created_at: string
  updated_at: string
  thread_count: number
  cursor: string
}
export interface RunSummary {
  id: string
  thread_id: string
  project_id: string
  thread_title: string
  profile: string
  model: string
  status: RunStatus
  stop_reason: string | null
  waiting_for: 'approval' | 'answer' | null
  problems: string[]
  parent_run_id: string | null
  after_run_id: string | null
  started_by: string
  started_by_name: string
  message_id: string
  answer_message_id: string | null
  attempt: number
  usage: Usage
  credits: number
  error: RunError | null
  step_count: number
  tool_count: number
  created_at: string
  started_at: string | null
  ended_at: string | null
  duration_s: number | null
}
/** Of one model: its prompts' tokens, and which part of them (0 to 1) its provider read from a cache. */
export interface CacheShare {
  /** Empty for a model that is not configured any more. */
  provider: string
  model: string
  runs: number
  input_tokens: number
  cached_tokens: number
  cached_share: number
}
export interface Step {
  name: string
  kind: 'start' | 'prepare' | 'model' | 'tool' | 'check' | 'wait' | 'settle'
  step: number
  tool: string | null
  status: string
  started_at: string | null
  ended_at: string | null
  duration_s: number | null
  usage: Usage | null
  cost_usd: number | null
  retries: number
  error: RunError | string | null
  attempt: number
}
export interface Clock {
  name: string
  due_at: string
  /** What happens when it runs out, as a sentence for people. */
  takes_away: string
}
/** A declared service of a sandbox; `error` says why it failed or was last restarted. */
export interface ServiceState {
  name: string
  port: number
  state: 'stopped' | 'starting' | 'healthy' | 'failed'
  error: string | null
  restarts: number
}
/** An isolated machine over the files of a workspace. What it uses is null while it is not awake. */
export interface Sandbox {
  id: string
  workspace_id: string
  project_id: string
  thread_id: string | null
  thread_title: string | null
  owner_type: string
  user_id: string | null
  user_name: string | null
  active_run_id: string | null
  provider: string
  node_id: string | null
  snapshot: string | null
  state: 'creating' | 'ready' | 'pausing' | 'paused' | 'resuming' | 'lost' | 'killed'
  pause_kind: 'frozen' | 'stopped' | null
  memory_bytes: number | null
  processes: number | null
  cpu_s: number | null
  disk_bytes: number | null
  limits: { memory_bytes: number; disk_bytes: number; processes: number; cpus: number } | null
  services: ServiceState[]
  clocks: Clock[]
  created_at: string
  last_used_at: string
  ended_at: string | null
}
/** A port of a sandbox: of a declared service, or one that something listens on now. */
export interface PreviewPort {
  port: number
  service: string | null
  state: ServiceState['state'] | null
  listening: boolean
}
/** `url` is the preview itself; `ticket_url` lets one browser in, once, until `expires_at`. */
export interface Preview {
  url: string
  ticket_url: string
  expires_at: string
}
/** The end of one log: of the service named in `source`, or of the sandbox itself (`sandbox`). */
export interface SandboxLog {
  source: string
  text: string
}
export interface RunView extends RunSummary {
  parts: Part[]
  pending: Pending[]
  steps: Step[]
  cursor: number | string
  clocks: Clock[]
  /** Its named steps as they were last told; empty where its agent has none. */
  workflow: WorkflowStep[]
  /** Where it has brought its page, and what it told of it at its end; null where it has none. */
  page: { page_id: string; version: number; stats: PageStats | null } | null
  /** What it announced of the code that it saved. */
  modules: ModuleData[]
}
export interface ThreadView extends Thread {
  cursor: string
  watching: { user_id: string; name: string }[]
  lineage: { id: string; title: string }[]
  active_run: RunView | null
  queued_runs: { run_id: string; message_id: string }[]
  /** What it hangs on in a document; null: in none. `text`: the comment's or the selected words. */
  about: {
    document_id: string
    document_title: string
    section_id: string | null
    heading: string | null
    block_id: string | null
    comment_id: string | null
    text: string
    gone: boolean
  } | null
  project_role: Role
}
export interface Me {
  user: { id: string; name: string; plan: string; is_admin: boolean }
  signed_in: boolean
  local_mode: boolean
  default_project_id: string
  version: string
  /** Pages are looked at under `<id with - for _>.<pages_domain>`. */
  pages_domain: string
  /** Whether agents can run code here. */
  sandboxes: boolean
  /** Whether searches compare meanings too; without, they go by words. */
  embedder: boolean
  limits: { message_bytes: number; image_bytes: number; images_per_message: number }
  clocks: {
    approval_pause_after_s: number
    paused_kill_after_s: number
    abandoned_after_s: number
    lock_ttl_s: number
  }
}
export interface Model {
  id: string
  label: string
  provider: string
  vision: boolean
  credits: number
  default: boolean
  demo: boolean
  available: boolean
  reason?: string | null
}
export interface CreditEntry {
  id: string
  kind: string
  credits: number
  run_id: string | null
  created_at: string
}
export interface Credits {
  plan: string
  /** null: unlimited. */
  balance: number | null
  /** What the plan grants a month; null: unlimited. */
  allowance: number | null
  reserved: number
  low: boolean
  resets_at: string | null
  entries: CreditEntry[]
}
export interface Token {
  id: string
  name: string
  prefix: string
  created_at: string
  expires_at: string | null
  last_used_at?: string | null
}
export interface Invitation {
  id: string
  role: Role
  name?: string | null
  url?: string
  token?: string
  expires_at: string | null
  created_at?: string
}
export interface Attachment {
  id: string
  name: string
  media_type: string
  size_bytes: number
  width: number | null
  height: number | null
}
export type InboxKind = 'approval' | 'question' | 'proposal' | 'handover' | 'mention' | 'assigned'
/** One thing that waits for the caller. `id` is the approval's, question's, proposal's or mention's, or that of the thread or
 * section whose lock is asked for; `text` says in one line what is asked, and the rest where to go. */
export interface InboxItem {
  kind: InboxKind
  id: string
  project_id: string
  text: string
  created_at: string
  /** Who asks; null: an agent. */
  by: string | null
  by_name: string | null
  thread_id: string | null
  thread_title: string | null
  message_id: string | null
  run_id: string | null
  tool: string | null
  document_id: string | null
  document_title: string | null
  section_id: string | null
  block_id: string | null
  comment_id: string | null
}
export interface Page<T> {
  items: T[]
  next: string | null
}
export interface StartedRun {
  run_id: string
  thread_id: string
  message_id: string
  cursor: string
}
export type OnBusy = 'reject' | 'enqueue' | 'interrupt'
export interface StartRun {
  content: string
  model?: string
  images?: string[]
  on_busy?: OnBusy
}
export interface ApprovalDecision {
  decision: 'approve' | 'deny'
  reason?: string
  arguments?: string
  remember?: 'thread'
}
export type Answers = Record<string, string | string[]>

/** A workspace's files as they were at one moment. */
export interface Checkpoint {
  id: string
  workspace_id: string
  project_id: string
  run_id: string | null
  message_id: string | null
  effect_id: string | null
  parent_id: string | null
  reason: 'tool' | 'message' | 'sleep' | 'fork' | 'restore' | 'person' | 'template'
  tree: string
  files: number
  size_bytes: number
  created_at: string
}

/** A file, folder or symbolic link in a checkpoint. */
export interface KeptFile {
  path: string
  kind: 'file' | 'directory' | 'symlink'
  size_bytes: number
  mode: string
  modified_at: string
  target: string | null
}

export interface CheckpointFiles extends Checkpoint {
  entries: KeptFile[]
  truncated: boolean
}

/** One path that differs; `diff` is the unified difference of two texts (null: no text, or too long). */
export interface FileDifference {
  path: string
  change: 'added' | 'changed' | 'removed'
  before_bytes: number | null
  after_bytes: number | null
  diff: string | null
}

/** What changed from one checkpoint (null: from no files at all) to another. */
export interface Comparison {
  before: Checkpoint | null
  after: Checkpoint
  changes: FileDifference[]
  truncated: boolean
}
