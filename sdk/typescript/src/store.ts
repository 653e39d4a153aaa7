/** An observable value, for React hooks and other frameworks. */

const FRAME_MS = 16
/** The update interval of views of a stream: ten updates a second look fluid, and leave time for everything else. */
export const DRAWING_MS = 100

export abstract class Store<T> {
  #value: T
  #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | null = null
  #toldAt = -Infinity
  readonly #paceMs: number

  /** Listeners are called at most once in `paceMs`; after a pause, the first change reaches them within a frame. */
  constructor(value: T, paceMs = FRAME_MS) {
    this.#value = value
    this.#paceMs = paceMs
  }

  /** The current value; the same object until something changes. */
  get = (): T => this.#value

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  abstract start(): void
  abstract stop(): void

  /** Changes the value now and notifies listeners at the store's pace, however fast the stream is. */
  protected set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    const due = this.#toldAt + this.#paceMs - performance.now()
    this.#timer ??= setTimeout(() => this.tell(), Math.max(FRAME_MS, due))
  }

  protected patch(change: Partial<T>): void {
    this.set({ ...this.#value, ...change })
  }

  /** Notifies listeners of pending changes at once: after a user's action, and before dependent changes are shown. */
  tell(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
    this.#toldAt = performance.now()
    for (const listener of [...this.#listeners]) listener()
  }
}
