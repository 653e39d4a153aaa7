import { useSyncExternalStore } from 'react'

const compact = matchMedia('(width < 80rem)')

function subscribe(listener: () => void): () => void {
  compact.addEventListener('change', listener)
  return () => compact.removeEventListener('change', listener)
}

/** True if the outline does not fit next to the text and the panel. */
export const useCompact = (): boolean => useSyncExternalStore(subscribe, () => compact.matches)
