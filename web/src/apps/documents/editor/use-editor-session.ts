import { createContext, useContext, useSyncExternalStore } from 'react'
import type { DraftStatus, EditorSession } from './editor-session'

export const EditorSessionContext = createContext<EditorSession | null>(null)

export function useEditorSession(): EditorSession {
  const session = useContext(EditorSessionContext)
  if (session === null) throw new Error('useEditorSession is called outside of a document')
  return session
}

/** The state of one block's draft, or null if there is none. */
export function useDraftStatus(key: string): DraftStatus | null {
  const session = useEditorSession()
  return useSyncExternalStore(session.subscribe, () => session.status(key))
}

/** The keys of a section's new blocks. */
export function useNewIn(sectionId: string): readonly string[] {
  const session = useEditorSession()
  return useSyncExternalStore(session.subscribe, () => session.newIn(sectionId))
}
