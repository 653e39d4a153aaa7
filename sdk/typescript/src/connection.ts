/**
 * The one routine that keeps a client up to date: take a snapshot with its cursor, follow from the cursor, and after
 * any break resume from the last cursor with growing pauses. Nothing else opens a stream.
 */
import type { OutlastEvent, Presence } from './api.gen.ts'
import { OutlastError } from './errors.ts'
import { readFrames, type Frame } from './sse.ts'

export type ConnectionStatus = 'connecting' | 'live' | 'reconnecting' | 'resting' | 'ended' | 'failed'

export interface ConnectionState {
  status: ConnectionStatus
  /** Failed attempts since the last time the stream was live. */
  failures: number
  /** The reason for reconnecting or failing. */
  error: Error | null
}

export interface ConnectionOptions {
  /** Loads the snapshot, publishes it, and returns the cursor to follow from. */
  load: (signal: AbortSignal) => Promise<string>
  /** Opens the stream after a cursor. Rejects with an OutlastError for a refusal. */
  open: (cursor: string, signal: AbortSignal) => Promise<Response>
  /** All frames of one network read, in order. */
  onEvents: (events: OutlastEvent[]) => void
  /** True for the last event of the log. */
  isEnd?: (event: OutlastEvent) => boolean
  onPresence?: (presence: Presence) => void
  onState?: (state: ConnectionState) => void
  /** The pause before the first retry, and the longest pause. */
  firstPauseMs?: number
  maxPauseMs?: number
  /** A stream that is silent for longer counts as dead; the server sends a heartbeat every 15 s. */
  silentMs?: number
  /** 0 to 1; spreads the reconnects of clients that lost the same server. */
  random?: () => number
}

/** Refusals that retries do not fix: not signed in, not allowed, gone. */
const FINAL = new Set([401, 403, 404, 410])

export class Connection {
  #options: Required<Pick<ConnectionOptions, 'firstPauseMs' | 'maxPauseMs' | 'silentMs' | 'random'>> & ConnectionOptions
  #life: AbortController | null = null
  #cursor: string | null = null
  #failures = 0
  #wake: (() => void) | null = null
  state: ConnectionState = { status: 'connecting', failures: 0, error: null }

  constructor(options: ConnectionOptions) {
    this.#options = {
      firstPauseMs: 300,
      maxPauseMs: 15_000,
      silentMs: 45_000,
      random: Math.random,
      ...options,
    }
  }

  /** Starts, or continues from the last cursor after `rest()`. Does nothing if already running. */
  start(): void {
    if (this.#life !== null) return
    const life = new AbortController()
    this.#life = life
    const wake = () => this.wake()
    globalThis.addEventListener?.('online', wake, { signal: life.signal })
    void this.#live(life.signal)
  }

  /** Closes the stream and keeps the cursor, for a hidden page. */
  rest(): void {
    if (this.#life === null) return
    this.stop()
    this.#tell('resting', null)
  }

  /** Closes the stream. Safe to repeat. */
  stop(): void {
    this.#life?.abort()
    this.#life = null
  }

  /** Ends the current pause, for instance when the network is back. */
  wake(): void {
    this.#wake?.()
  }

  /** Takes a new snapshot, for instance after a response that should have arrived in the stream. */
  restart(): void {
    this.stop()
    this.#cursor = null
    this.#failures = 0
    this.start()
  }

  async #live(signal: AbortSignal): Promise<void> {
    this.#tell(this.#cursor === null ? 'connecting' : 'reconnecting', null)
    while (!signal.aborted) {
      try {
        this.#cursor ??= await this.#options.load(signal)
        if (signal.aborted) return
        if ((await this.#follow(this.#cursor, signal)) === 'ended') return this.#end('ended', null)
        if (signal.aborted) return
        this.#broke(new Error('The server closed the stream'))
      } catch (reason) {
        if (signal.aborted) return
        const error = reason instanceof Error ? reason : new Error(String(reason))
        if (error instanceof OutlastError && error.code === 'cursor_unknown') this.#cursor = null
        else if (error instanceof OutlastError && FINAL.has(error.status)) return this.#end('failed', error)
        this.#broke(error)
      }
      await this.#pause(signal)
    }
  }

  async #follow(cursor: string, signal: AbortSignal): Promise<'ended' | 'broken'> {
    const attempt = new AbortController()
    const abort = () => attempt.abort()
    signal.addEventListener('abort', abort)
    let silence = setTimeout(abort, this.#options.silentMs)
    try {
      const response = await this.#options.open(cursor, attempt.signal)
      if (response.status === 204) return 'ended'
      if (response.body === null) throw new Error('The stream has no body')
      this.#tell('live', null)
      for await (const frames of readFrames(response.body)) {
        clearTimeout(silence)
        if (signal.aborted) return 'broken'
        silence = setTimeout(abort, this.#options.silentMs)
        this.#failures = 0
        if (this.#deliver(frames)) return 'ended'
      }
      return 'broken'
    } finally {
      clearTimeout(silence)
      signal.removeEventListener('abort', abort)
      abort()
    }
  }

  /** Publishes the frames, then moves the cursor: an error in between replays frames instead of losing them. */
  #deliver(frames: Frame[]): boolean {
    const events: OutlastEvent[] = []
    let cursor: string | null = null
    for (const frame of frames) {
      if (frame.event === 'presence') this.#options.onPresence?.(JSON.parse(frame.data) as Presence)
      else if (frame.id !== null) events.push(JSON.parse(frame.data) as OutlastEvent)
      cursor = frame.id ?? cursor
    }
    if (events.length > 0) this.#options.onEvents(events)
    this.#cursor = cursor ?? this.#cursor
    return events.some((event) => this.#options.isEnd?.(event) ?? false)
  }

  #broke(error: Error): void {
    this.#failures += 1
    this.#tell('reconnecting', error)
  }

  #end(status: 'ended' | 'failed', error: Error | null): void {
    this.#life = null
    this.#tell(status, error)
  }

  #tell(status: ConnectionStatus, error: Error | null): void {
    this.state = { status, failures: this.#failures, error }
    this.#options.onState?.(this.state)
  }

  /** Doubles with every failure, with up to half of it random. A server's Retry-After is honoured. */
  #pauseMs(): number {
    const { firstPauseMs, maxPauseMs, random } = this.#options
    const grown = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.max(0, this.#failures - 1))
    const asked = this.state.error instanceof OutlastError ? (this.state.error.retryAfterS ?? 0) * 1000 : 0
    return Math.max(grown * (0.5 + random() / 2), Math.min(asked, maxPauseMs))
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        this.#wake = null
        resolve()
      }
      const timer = setTimeout(done, this.#pauseMs())
      signal.addEventListener('abort', done)
      this.#wake = done
    })
  }
}
