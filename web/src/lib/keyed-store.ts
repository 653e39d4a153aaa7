import { useSyncExternalStore } from 'react'

interface KeyedStore<T> {
  get: (key: string) => T
  change: (key: string, change: (now: T) => T) => void
  use: (key: string) => T
}

/** State of this page by key, kept while no component shows it and lost with the page. `empty` is the value of an
 * unknown key. */
export function makeKeyedStore<T>(empty: T): KeyedStore<T> {
  const values = new Map<string, T>()
  const listeners = new Set<() => void>()
  const get = (key: string): T => values.get(key) ?? empty
  const change = (key: string, change: (now: T) => T) => {
    const next = change(get(key))
    if (next === empty) values.delete(key)
    else values.set(key, next)
    for (const listener of [...listeners]) listener()
  }
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }
  return { get, change, use: (key) => useSyncExternalStore(subscribe, () => get(key)) }
}
