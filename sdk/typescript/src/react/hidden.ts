/** What a page out of sight does: browsers give few connections to one server, so it gives its own back. */

export interface Resting {
  /** Opens the stream, or goes on from the last cursor. */
  start(): void
  /** Closes the stream and keeps the cursor. */
  rest(): void
  /** Looks once, without a stream, whether something has changed; a run that is looked at is not abandoned. */
  peek(): Promise<void>
}

export const HIDDEN_MS = 5_000
export const PEEK_MS = 60_000

/** Rests the store while the page is hidden and wakes it when it is shown. Returns how to stop. */
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
