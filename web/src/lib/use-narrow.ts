import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(width < 48rem)')

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

/** True if there is room for a list only: on a phone. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)
