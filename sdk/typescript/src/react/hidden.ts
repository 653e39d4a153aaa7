/** A hidden page closes its streams: browsers allow only a few connections to one server. */

export interface Resting {
  /** Opens the stream, or continues from the last cursor. */
  start(): void
  /** Closes the stream and keeps the cursor. */
  rest(): void
  /** Checks once, without a stream, for changes; this also keeps a run from being abandoned. */
  peek(): Promise<void>
}

export const HIDDEN_MS = 5_000
export const PEEK_MS = 60_000

/** Pauses the store while the page is hidden. Returns a function that stops this. */
export function restWhileHidden(store: Resting): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let peeking: ReturnType<typeof setInterval> | undefined
  const clear = () => {
    clearTimeout(timer)
    clearInterval(peeking)
  }
  const hide = () => {
    store.rest()
    peeking = setInterval(() => void store.peek().catch(() => undefined), PEEK_MS)
  }
  const look = () => {
    clear()
    if (document.hidden) timer = setTimeout(hide, HIDDEN_MS)
    else store.start()
  }
  document.addEventListener('visibilitychange', look)
  return () => {
    clear()
    document.removeEventListener('visibilitychange', look)
  }
}
