/** A value that can be watched; what the React hooks and other frameworks bind to. */

const FRAME_MS = 16
/** The pace of what shows a stream: ten times a second reads as flowing, and leaves time for everything else. */
export const DRAWING_MS = 100

export abstract class Store<T> {
  #value: T
  #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | null = null
  #toldAt = -Infinity
  readonly #paceMs: number

  /** Listeners are told at most once in `paceMs`, and of the first change after a rest within a painted frame. */
  constructor(value: T, paceMs = FRAME_MS) {
    this.#value = value
    this.#paceMs = paceMs
  }

  /** The present value; the same object until something changes. */
  get = (): T => this.#value

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  abstract start(): void
  abstract stop(): void

  /** Changes the value now and tells listeners at the store's pace, however fast the stream is. */
  protected set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    const due = this.#toldAt + this.#paceMs - performance.now()
    this.#timer ??= setTimeout(() => this.tell(), Math.max(FRAME_MS, due))
  }

  protected patch(change: Partial<T>): void {
    this.set({ ...this.#value, ...change })
  }

  /** Tells listeners at once of what has been set: for what a person just did, and before what builds on it is shown. */
  tell(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
    this.#toldAt = performance.now()
    for (const listener of [...this.#listeners]) listener()
  }
}
