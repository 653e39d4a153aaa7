import { useCallback, useState, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

/** A small choice that this browser remembers; empty if there is none. All components that read the same key see a
 * change at once, in other tabs too. */
export function useStored(key: string): [string, (value: string) => void] {
  const value = useSyncExternalStore(subscribe, () => localStorage.getItem(key) ?? '')
  const set = useCallback((next: string) => store(key, next), [key])
  return [value, set]
}

/** Stores a choice, for callers that do not read it. Empty deletes it. */
export function store(key: string, value: string): void {
  if (value === '') localStorage.removeItem(key)
  else localStorage.setItem(key, value)
  for (const listener of [...listeners]) listener()
}

/** Text that survives a reload but belongs to this tab: two tabs do not overwrite each other's text. */
export function useStoredDraft(key: string): [string, (value: string) => void] {
  const [draft, setDraft] = useState(() => ({ key, value: localStorage.getItem(key) ?? '' }))
  const value = draft.key === key ? draft.value : (localStorage.getItem(key) ?? '')
  const set = useCallback(
    (next: string) => {
      setDraft({ key, value: next })
      if (next === '') localStorage.removeItem(key)
      else localStorage.setItem(key, next)
    },
    [key],
  )
  return [value, set]
}
