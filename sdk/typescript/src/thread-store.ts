/** One thread kept up to date: messages, lock, live runs, presence. */
import type {
  Member,
  Message,
  OutlastEvent,
  Presence,
  Role,
  RunStatus,
  RunSummary,
  RunView,
  ThreadRunStatus,
  ThreadView,
} from './api.gen.ts'
import type { OutlastClient } from './client.ts'
import { Connection, type ConnectionState } from './connection.ts'
import {
  emptyRun,
  emptyThread,
  foldThread,
  isTerminal,
  upsertMessage,
  type RunState,
  type ThreadState,
} from './fold.ts'
import { DRAWING_MS, Store } from './store.ts'

export interface ThreadSnapshot extends ThreadState {
  loading: boolean
  connection: ConnectionState
  watching: Pick<Member, 'user_id' | 'name'>[]
  /** Ids of users who are typing now. */
  typing: string[]
  /** The threads that this one was forked from, nearest first. */
  lineage: { id: string; title: string }[]
  role: Role | null
  /** The cursor of the next older page of messages; null if the first message is loaded. */
  older: string | null
  loadingOlder: boolean
  /** Seconds of the model's reasoning, by reasoning part, as far as this client has followed. */
  thinking: Record<string, { from: string; seconds: number }>
  /** How full the model's context is, by its last turn; null before the first. */
  context: ThreadView['context']
}

export const MESSAGE_PAGE = 50

const THREAD_STATUS: Record<RunStatus, ThreadRunStatus> = {
  queued: 'generating',
  running: 'generating',
  awaiting_approval: 'awaiting_approval',
  paused: 'paused',
  completed: 'complete',
  cancelled: 'complete',
  error: 'error',
}

const CONNECTING: ConnectionState = { status: 'connecting', failures: 0, error: null }

export class ThreadStore extends Store<ThreadSnapshot> {
  readonly #connection: Connection

  constructor(
    readonly client: OutlastClient,
    readonly threadId: string,
  ) {
    super(
      {
        ...emptyThread(),
        loading: true,
        connection: CONNECTING,
        watching: [],
        typing: [],
        lineage: [],
        role: null,
        older: null,
        loadingOlder: false,
        thinking: {},
        context: null,
      },
      DRAWING_MS,
    )
    this.#connection = new Connection({
      load: (signal) => this.#load(signal),
      open: (cursor, signal) => client.openEvents('threads', threadId, cursor, signal),
      onEvents: (events) => this.#fold(events),
      onPresence: (presence) => this.#present(presence),
      onState: (connection) => this.patch({ connection }),
    })
  }

  start = () => this.#connection.start()
  stop = () => this.#connection.stop()
  wake = () => this.#connection.wake()
  restart = () => this.#connection.restart()

  rest = () => this.#connection.rest()

  /** Checks if the run that was active when the stream was closed still is; changes only the thread's status. */
  peek = async (): Promise<void> => {
    const run = activeRun(this.get())
    const { thread } = this.get()
    if (run === null || thread === null) return
    const { status } = await this.client.run(run.run_id)
    if (this.#connection.state.status === 'resting')
      this.patch({ thread: { ...thread, run_status: THREAD_STATUS[status] } })
  }

  /** Loads the page of messages before the oldest one. */
  loadOlder = async (): Promise<void> => {
    const { older, loadingOlder } = this.get()
    if (older === null || loadingOlder) return
    this.patch({ loadingOlder: true })
    try {
      const page = await this.client.messages(this.threadId, { limit: MESSAGE_PAGE, before: older })
      const messages = page.items.reduce(upsertMessage, this.get().messages)
      this.patch({ messages, older: page.next })
    } finally {
      this.patch({ loadingOlder: false })
    }
  }

  async #load(signal: AbortSignal): Promise<string> {
    const view = await this.client.thread(this.threadId, signal)
    this.client.announceSnapshot('threads', this.threadId)
    const page = await this.client.messages(this.threadId, { limit: MESSAGE_PAGE, signal })
    const unanswered = await this.#unanswered(view, page.items, signal)
    this.patch({
      ...snapshotState(view, page.items, unanswered),
      loading: false,
      watching: view.watching,
      lineage: view.lineage,
      role: view.project_role,
      older: page.next,
      context: view.context,
    })
    return view.cursor
  }

  /** The last run that ended without a saved message, so that its error is shown and it can be retried. */
  async #unanswered(view: ThreadView, messages: Message[], signal: AbortSignal): Promise<RunState[]> {
    const last = messages.at(-1)
    if (last?.role !== 'user' || view.active_run !== null || view.queued_runs.length > 0) return []
    const [run] = (await this.client.runs({ thread: view.id, limit: 1, signal })).items
    return run?.message_id === last.id && isTerminal(run.status) ? [runFromView(run)] : []
  }

  #fold(events: OutlastEvent[]): void {
    const { thinking, context } = this.get()
    this.patch({
      ...events.reduce<ThreadState>(foldThread, this.get()),
      thinking: events.reduce(foldThinking, thinking),
      context: events.reduce(foldContext, context),
    })
    for (const event of events) this.client.announce(event)
  }

  #present({ watching, typing }: Presence): void {
    this.patch({ watching, typing })
  }
}

type Thinking = ThreadSnapshot['thinking']

/** A reasoning part lasts from its creation to its last event, by the server's clock. */
export function foldThinking(thinking: Thinking, { event, data, timestamp }: OutlastEvent): Thinking {
  if (event === 'part.created' && data.part.type === 'reasoning')
    return { ...thinking, [data.part.id]: { from: timestamp, seconds: 0 } }
  const id = event === 'reasoning.delta' ? data.part_id : event === 'part.completed' ? data.part.id : ''
  const known = thinking[id]
  if (known === undefined) return thinking
  return { ...thinking, [id]: { ...known, seconds: (Date.parse(timestamp) - Date.parse(known.from)) / 1000 } }
}

/** A turn's usage says how full the context is. */
export function foldContext(
  known: ThreadSnapshot['context'],
  { event, data }: OutlastEvent,
): ThreadSnapshot['context'] {
  if (event !== 'step.completed' || data.context_tokens === 0) return known
  const { input_tokens, output_tokens } = data.usage
  return { used_tokens: input_tokens + output_tokens, limit_tokens: data.context_tokens }
}

function snapshotState(view: ThreadView, messages: Message[], unanswered: RunState[]): ThreadState {
  const before = [view.active_run?.id ?? null, ...view.queued_runs.map(({ run_id }) => run_id)]
  const queued = view.queued_runs.map(({ run_id, message_id }, at): RunState => ({
    ...emptyRun(run_id),
    message_id,
    after_run_id: before[at] ?? null,
  }))
  const active = view.active_run === null ? [] : [runFromView(view.active_run)]
  return {
    thread: view,
    lock: view.lock,
    messages,
    page: null,
    actions: [],
    proposals: [],
    compaction: view.compaction,
    state: view.state,
    runs: Object.fromEntries([...unanswered, ...active, ...queued].map((run) => [run.run_id, run])),
  }
}

/** The folded state of a run's snapshot. */
export function runFromView(view: RunSummary & Partial<Pick<RunView, 'parts' | 'pending'>>): RunState {
  const { id, parts = [], pending = [], step_count, ...rest } = view
  const base = emptyRun(id)
  const known = Object.keys(base).filter((key) => key in rest) as (keyof RunState & keyof typeof rest)[]
  const fields = Object.fromEntries(known.map((key) => [key, rest[key]]))
  return { ...base, ...fields, parts, pending, step: step_count, ended: isTerminal(view.status) }
}

/** The active run: it works, or waits for a user. */
export function activeRun(state: ThreadState): RunState | null {
  const runs = Object.values(state.runs).filter((run) => !isTerminal(run.status))
  return (
    runs.find((run) => run.status !== 'queued') ??
    runs.find((run) => run.after_run_id === null) ??
    inTurn(runs)[0] ??
    null
  )
}

/** Queued runs, each after the one that it waits for. */
function inTurn(runs: readonly RunState[]): RunState[] {
  const left = [...runs]
  const ordered: RunState[] = []
  while (left.length > 0) {
    const at = left.findIndex(({ after_run_id }) => !left.some(({ run_id }) => run_id === after_run_id))
    ordered.push(...left.splice(Math.max(at, 0), 1))
  }
  return ordered
}

/** Runs queued after the active one, the next one first. */
export function queuedRuns(state: ThreadState): RunState[] {
  const active = activeRun(state)
  return inTurn(Object.values(state.runs).filter((run) => run.status === 'queued' && run !== active))
}

/** Runs whose answer is not a saved message (yet), in the order in which they appeared. */
export function liveRuns(state: ThreadState): RunState[] {
  const answered = new Set(state.messages.filter((m) => m.role === 'assistant').map((m) => m.run_id))
  return Object.values(state.runs).filter((run) => !answered.has(run.run_id))
}
