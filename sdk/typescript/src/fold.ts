/**
 * Events in, state out. Plain functions without React, clock or network; the Python version is
 * `kernel/streams/fold.py`, and both run `contract/cases/*.json`. States are plain JSON and never changed in place.
 */
import type {
  CompactionData,
  EventData,
  Lock,
  Message,
  ModuleData,
  OutlastEvent,
  PageAction,
  PageStats,
  Part,
  Pending,
  ProposalData,
  RunError,
  RunPage,
  RunStatus,
  RunSummary,
  StateData,
  Thread,
  Usage,
  WorkflowStep,
} from './api.gen.ts'
import { withEdits, withProposal } from './proposals.ts'

export interface RunState {
  run_id: string
  thread_id: string | null
  /** The user message that the run answers. */
  message_id: string | null
  answer_message_id: string | null
  profile: string | null
  model: string | null
  started_by: string | null
  after_run_id: string | null
  parent_run_id: string | null
  status: RunStatus
  waiting_for: RunSummary['waiting_for']
  retry_at: string | null
  reason: string | null
  attempt: number
  step: number
  /** Each named step once, as last reported, in order of first appearance. */
  workflow: WorkflowStep[]
  parts: Part[]
  pending: Pending[]
  /** The state of the run's page. The HTML is not kept here: see `pages.ts`. */
  page: RunPage | null
  /** The code modules that the run saved. */
  modules: ModuleData[]
  stop_reason: string | null
  problems: string[]
  usage: Usage | null
  credits: number | null
  error: RunError | null
  /** True after `stream.ended`: no more events follow. */
  ended: boolean
}

export interface ThreadState {
  thread: Thread | null
  lock: Lock | null
  /** Ordered by position. */
  messages: Message[]
  /** The page that the thread is about, as last reported; null if none was reported yet. */
  page: Pick<RunPage, 'page_id' | 'version'> | null
  /** Users' actions on that page, in order of first appearance. */
  actions: PageAction[]
  /** Proposals of the thread's agent about a document, with their decisions, oldest first. */
  proposals: ProposalData[]
  /** The summary that the thread's agent reads instead of the oldest messages; null if it reads all of them. */
  compaction: CompactionData | null
  /** What the thread's agents keep in it; null if it was not loaded and has not changed. */
  state: StateData | null
  /** Runs seen in this stream, by id. */
  runs: Record<string, RunState>
}

const TERMINAL: readonly RunStatus[] = ['completed', 'cancelled', 'error']

export const isTerminal = (status: RunStatus): boolean => TERMINAL.includes(status)

export function emptyRun(runId: string): RunState {
  return {
    run_id: runId,
    thread_id: null,
    message_id: null,
    answer_message_id: null,
    profile: null,
    model: null,
    started_by: null,
    after_run_id: null,
    parent_run_id: null,
    status: 'queued',
    waiting_for: null,
    retry_at: null,
    reason: null,
    attempt: 0,
    step: 0,
    workflow: [],
    parts: [],
    pending: [],
    page: null,
    modules: [],
    stop_reason: null,
    problems: [],
    usage: null,
    credits: null,
    error: null,
    ended: false,
  }
}

export const emptyThread = (): ThreadState => ({
  thread: null,
  lock: null,
  messages: [],
  page: null,
  actions: [],
  proposals: [],
  compaction: null,
  state: null,
  runs: {},
})

/** The run after one event of its log. An event that is not about a run returns the same object. */
export function foldRun(run: RunState, event: OutlastEvent): RunState {
  switch (event.event) {
    case 'run.queued':
      return { ...emptyRun(event.data.run_id), ...event.data }
    case 'run.started':
      return { ...run, ...RESUMED, status: 'running', attempt: event.data.attempt }
    case 'run.status':
      return foldStatus(run, event.data)
    case 'step.started':
      return { ...run, ...TRIED, step: event.data.step, attempt: event.data.attempt }
    case 'step.reset':
      return foldReset(run, event.data)
    case 'part.created':
      return { ...run, ...TRIED, parts: upsertPart(run.parts, event.data.part) }
    case 'part.completed':
    case 'part.snapshot':
      return { ...run, parts: upsertPart(run.parts, event.data.part) }
    case 'text.delta':
    case 'reasoning.delta':
    case 'tool_call.arguments.delta':
    case 'tool_call.output.delta':
      return foldDelta(run, event.event, event.data)
    case 'tool_call.result':
      return changeTool(run, event.data.part_id, {
        status: event.data.status,
        result: event.data.result,
        duration_s: event.data.duration_s,
      })
    case 'approval.requested':
      return foldApprovalRequested(run, event.data)
    case 'approval.resolved':
      return foldApprovalResolved(run, event.data)
    case 'question.asked':
      return foldQuestionAsked(run, event.data)
    case 'question.answered':
      return foldQuestionAnswered(run, event.data)
    case 'run.completed':
    case 'run.error':
    case 'run.cancelled':
      return foldEnd(run, event)
    case 'workflow.step':
      return { ...run, workflow: upsertBy(run.workflow, event.data, 'name') }
    case 'page.patch':
    case 'page.html':
      return { ...run, page: movedPage(event.data, run.page?.stats ?? null) }
    case 'page.stats':
      return { ...run, page: movedPage(event.data, event.data) }
    case 'modules.saved':
      return { ...run, modules: event.data.modules.reduce((all, one) => upsertBy(all, one, 'id'), run.modules) }
    case 'stream.ended':
      return { ...run, ended: true }
    default:
      return run
  }
}

/** The thread after one event of its stream: its own log interleaved with its runs' logs. */
export function foldThread(state: ThreadState, event: OutlastEvent): ThreadState {
  switch (event.event) {
    case 'message.created':
      return { ...state, messages: upsertMessage(state.messages, event.data.message) }
    case 'thread.compacted':
      return { ...state, compaction: event.data.compaction }
    case 'state.changed':
      return { ...state, state: changedState(state.state, event.data) }
    case 'thread.updated':
      return { ...state, thread: event.data.thread, lock: event.data.thread.lock }
    case 'lock.acquired':
    case 'lock.released':
    case 'lock.requested':
    case 'lock.handed_over':
    case 'lock.taken_over':
      return foldLock(state, event.data.lock)
    case 'page.action':
      return { ...state, actions: upsertBy(state.actions, event.data.action, 'id') }
    case 'proposal.created':
      return { ...state, proposals: withProposal(state.proposals, event.data.proposal) }
    case 'edit.resolved':
    case 'edit.reopened':
    case 'edit.superseded':
      return { ...state, proposals: withEdits(state.proposals, event.data.edits) }
    case 'page.patch':
    case 'page.html': {
      const { page_id, version } = event.data
      return foldRunInThread({ ...state, page: { page_id, version } }, event)
    }
    default:
      return foldRunInThread(state, event)
  }
}

/** The wait before another try is over. */
const TRIED = { retry_at: null, reason: null } as const

const RESUMED = { waiting_for: null, retry_at: null, reason: null } as const

function foldRunInThread(state: ThreadState, event: OutlastEvent): ThreadState {
  const runId = runOf(event)
  if (runId === null) return state
  const before = state.runs[runId] ?? emptyRun(runId)
  const after = foldRun(before, event)
  return after === before ? state : { ...state, runs: { ...state.runs, [runId]: after } }
}

/** The run of an event: the one it names, otherwise the one whose log it is in ("<log id>:<number>"). */
export function runOf({ id, data }: OutlastEvent): string | null {
  if ('run_id' in data && data.run_id !== null) return data.run_id
  const logId = id.slice(0, id.lastIndexOf(':'))
  return logId.startsWith('run_') ? logId : null
}

/** The state after a change. An older change than the last one is already in it. */
function changedState(before: StateData | null, change: EventData<'state.changed'>): StateData {
  const { thread_id, revision, values, removed } = change
  if (before !== null && revision <= before.revision) return before
  const kept = Object.entries(before?.values ?? {}).filter(([key]) => !removed.includes(key))
  return { thread_id, revision, values: { ...Object.fromEntries(kept), ...values } }
}

function foldLock(state: ThreadState, lock: Lock | null): ThreadState {
  return { ...state, lock, thread: state.thread && { ...state.thread, lock } }
}

function foldStatus(run: RunState, data: EventData<'run.status'>): RunState {
  const { status, waiting_for, retry_at, reason } = data
  return { ...run, status, waiting_for, retry_at, reason }
}

function foldReset(run: RunState, data: EventData<'step.reset'>): RunState {
  const kept = run.parts.filter((part) => part.step !== data.step)
  return { ...run, ...TRIED, step: data.step, attempt: data.attempt, parts: [...kept, ...data.parts] }
}

type DeltaName = 'text.delta' | 'reasoning.delta' | 'tool_call.arguments.delta' | 'tool_call.output.delta'

function foldDelta(run: RunState, name: DeltaName, data: EventData<'text.delta'>): RunState {
  const at = run.parts.findIndex((part) => part.id === data.part_id)
  const part = run.parts[at]
  if (part === undefined) return run
  return { ...run, parts: run.parts.with(at, grown(part, name, data.delta)) }
}

function grown(part: Part, name: DeltaName, delta: string): Part {
  if (part.type === 'text' || part.type === 'reasoning') return { ...part, text: part.text + delta }
  if (part.type !== 'tool_call') return part
  if (name === 'tool_call.output.delta') return { ...part, output: part.output + delta }
  return { ...part, arguments: part.arguments + delta }
}

function foldApprovalRequested(run: RunState, { approval }: EventData<'approval.requested'>): RunState {
  const asked = changeTool(run, approval.part_id, { status: 'waiting', approval_id: approval.id })
  return { ...asked, pending: [...without(run.pending, approval.id), { kind: 'approval', ...approval }] }
}

function foldApprovalResolved(run: RunState, data: EventData<'approval.resolved'>): RunState {
  const status = ({ approve: 'pending', deny: 'denied', cancelled: 'cancelled' } as const)[data.decision]
  const edited = data.arguments == null ? {} : { arguments: data.arguments }
  const change = { status, decided_by: data.by, ...edited }
  return { ...changeTool(run, data.part_id, change), pending: without(run.pending, data.approval_id) }
}

function foldQuestionAsked(run: RunState, { question }: EventData<'question.asked'>): RunState {
  const asked = changeTool(run, question.part_id, { status: 'waiting', approval_id: question.id })
  return { ...asked, pending: [...without(run.pending, question.id), { kind: 'question', ...question }] }
}

function foldQuestionAnswered(run: RunState, data: EventData<'question.answered'>): RunState {
  const answered = changeTool(run, data.part_id, {
    status: data.cancelled ? 'cancelled' : 'pending',
    decided_by: data.by,
  })
  return { ...answered, pending: without(run.pending, data.question_id) }
}

type End = Extract<OutlastEvent, { event: 'run.completed' | 'run.error' | 'run.cancelled' }>

function foldEnd(run: RunState, event: End): RunState {
  const base = {
    ...run,
    ...RESUMED,
    pending: [],
    answer_message_id: event.data.message_id,
    stop_reason: event.data.stop_reason,
  }
  switch (event.event) {
    case 'run.completed': {
      const { problems, usage, credits } = event.data
      return { ...base, status: 'completed', problems, usage, credits }
    }
    case 'run.error':
      return { ...base, status: 'error', error: event.data.error }
    case 'run.cancelled':
      return { ...base, status: 'cancelled' }
  }
}

const without = (pending: Pending[], id: string): Pending[] => pending.filter((item) => item.id !== id)

function changeTool(run: RunState, partId: string, change: Partial<Extract<Part, { type: 'tool_call' }>>): RunState {
  const at = run.parts.findIndex((part) => part.id === partId)
  const part = run.parts[at]
  if (part?.type !== 'tool_call') return run
  return { ...run, parts: run.parts.with(at, { ...part, ...change }) }
}

const movedPage = ({ page_id, version }: Omit<RunPage, 'stats'>, stats: PageStats | null): RunPage => ({
  page_id,
  version,
  stats,
})

/** The items with this one replacing that with the same key, or appended. */
function upsertBy<T, K extends keyof T>(items: T[], item: T, key: K): T[] {
  const at = items.findIndex((known) => known[key] === item[key])
  return at === -1 ? [...items, item] : items.with(at, item)
}

const upsertPart = (parts: Part[], part: Part): Part[] => upsertBy(parts, part, 'id')

export function upsertMessage(messages: Message[], message: Message): Message[] {
  const others = messages.filter((known) => known.id !== message.id)
  const at = others.findLastIndex((known) => known.position <= message.position)
  return others.toSpliced(at + 1, 0, message)
}
