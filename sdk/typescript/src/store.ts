/** A value that can be watched; what the React hooks and other frameworks bind to. */

export abstract class Store<T> {
  #value: T
  #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(value: T) {
    this.#value = value
  }

  /** The present value; the same object until something changes. */
  get = (): T => this.#value

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  abstract start(): void
  abstract stop(): void

  /** Changes the value now and tells listeners at most once per painted frame, however fast the stream is. */
  protected set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      for (const listener of [...this.#listeners]) listener()
    }, 16)
  }

  protected patch(change: Partial<T>): void {
    this.set({ ...this.#value, ...change })
  }

  /** Tells listeners at once of what has been set: for what a person just did. */
  protected tell(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
    for (const listener of [...this.#listeners]) listener()
  }
}
