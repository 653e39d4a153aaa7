/** One run kept up to date, for programs that need the answer and not the thread. */
import type { OutlastEvent, RunView } from './api.gen.ts'
import type { OutlastClient } from './client.ts'
import { Connection, type ConnectionState } from './connection.ts'
import { emptyRun, foldRun, isTerminal, type RunState } from './fold.ts'
import { Store } from './store.ts'
import { runFromView } from './thread-store.ts'

export interface RunSnapshot {
  run: RunState
  /** The operator's view as last loaded: times, steps, clocks. Reloaded when the run ends or changes its status. */
  view: RunView | null
  connection: ConnectionState
}

export class RunStore extends Store<RunSnapshot> {
  readonly #connection: Connection

  constructor(
    readonly client: OutlastClient,
    readonly runId: string,
  ) {
    super({
      run: emptyRun(runId),
      view: null,
      connection: { status: 'connecting', failures: 0, error: null },
    })
    this.#connection = new Connection({
      load: (signal) => this.#load(signal),
      open: (cursor, signal) => client.openEvents('runs', runId, cursor, signal),
      onEvents: (events) => this.#fold(events),
      isEnd: (event) => event.event === 'stream.ended',
      onState: (connection) => this.patch({ connection }),
    })
  }

  start = () => this.#connection.start()
  stop = () => this.#connection.stop()
  rest = () => this.#connection.rest()

  peek = async (): Promise<void> => {
    if (!isTerminal(this.get().run.status)) await this.refresh()
  }

  /** Reloads the operator's view (steps, times, clocks). */
  refresh = async (signal?: AbortSignal): Promise<RunView> => {
    const view = await this.client.run(this.runId, signal)
    this.patch({ view })
    return view
  }

  async #load(signal: AbortSignal): Promise<string> {
    const view = await this.refresh(signal)
    this.patch({ run: runFromView(view) })
    return String(view.cursor)
  }

  #fold(events: OutlastEvent[]): void {
    const before = this.get().run
    this.patch({ run: events.reduce(foldRun, before) })
    for (const event of events) this.client.announce(event)
    if (events.some(changesSteps)) void this.refresh().catch(() => undefined)
  }
}

const changesSteps = ({ event }: OutlastEvent): boolean =>
  event === 'step.started' || event === 'tool_call.result' || event === 'stream.ended' || event === 'run.status'
