import { useSyncExternalStore } from 'react'

interface KeyedStore<T> {
  get: (key: string) => T
  change: (key: string, change: (now: T) => T) => void
  use: (key: string) => T
}

/** Things of this page by a key, kept while nobody shows them; gone with the page. `empty` is what an unknown key has. */
export function makeKeyedStore<T>(empty: T): KeyedStore<T> {
  const kept = new Map<string, T>()
  const listeners = new Set<() => void>()
  const get = (key: string): T => kept.get(key) ?? empty
  const change = (key: string, change: (now: T) => T) => {
    const next = change(get(key))
    if (next === empty) kept.delete(key)
    else kept.set(key, next)
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
