import { createContext, useContext, useSyncExternalStore } from 'react'
import type { DraftStatus, WritingDesk } from './writing-desk'

export const DeskContext = createContext<WritingDesk | null>(null)

export function useDesk(): WritingDesk {
  const desk = useContext(DeskContext)
  if (desk === null) throw new Error('useDesk is called outside of a document')
  return desk
}

/** How the draft of one block stands; null: there is none. */
export function useDraftStatus(key: string): DraftStatus | null {
  const desk = useDesk()
  return useSyncExternalStore(desk.subscribe, () => desk.status(key))
}

/** The keys of a section's new blocks. */
export function useNewIn(sectionId: string): readonly string[] {
  const desk = useDesk()
  return useSyncExternalStore(desk.subscribe, () => desk.newIn(sectionId))
}
