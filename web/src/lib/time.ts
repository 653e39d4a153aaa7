import { useEffect, useReducer, useSyncExternalStore } from 'react'

/** A clock shared by all counters: one timer per period while a component is mounted. */
function ticker(periodMs: number) {
  const listeners = new Set<() => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  let now = Date.now()
  const tick = () => {
    now = Date.now()
    for (const listener of [...listeners]) listener()
  }
  return {
    subscribe(listener: () => void) {
      if (listeners.size === 0) {
        now = Date.now()
        timer = setInterval(tick, periodMs)
      }
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) clearInterval(timer)
      }
    },
    get: () => now,
  }
}

const seconds = ticker(1000)
const minutes = ticker(30_000)

/** The current time in milliseconds, every second. */
export const useSeconds = (): number => useSyncExternalStore(seconds.subscribe, seconds.get)
/** The current time in milliseconds, every half minute. */
export const useMinutes = (): number => useSyncExternalStore(minutes.subscribe, minutes.get)

const LONGEST_MS = 2 ** 31 - 1

/** True once a moment has passed; renders again when it does. False for null. */
export function useReached(iso: string | null): boolean {
  const [, again] = useReducer((count: number) => count + 1, 0)
  const at = iso === null ? Number.POSITIVE_INFINITY : Date.parse(iso)
  const reached = at <= Date.now()
  useEffect(() => {
    if (reached || !Number.isFinite(at)) return
    const timer = setTimeout(again, Math.min(at - Date.now() + 20, LONGEST_MS))
    return () => clearTimeout(timer)
  }, [at, reached])
  return reached
}
