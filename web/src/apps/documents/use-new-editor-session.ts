import { useEffect, useMemo } from 'react'
import type { DocumentStore } from '@outlast/sdk'
import { useMe } from '@/features/session/session-gate'
import { draftStorageOf } from './editor/drafts'
import { EditorSession } from './editor/editor-session'

/** The time that the previous page may take to close after a reload. */
const CLOSED_MS = 1000

/** The editing session of this document. It saves all drafts before the page closes. */
export function useNewEditorSession(store: DocumentStore, documentId: string, loaded: boolean): EditorSession {
  const { user } = useMe()
  const session = useMemo(
    () => new EditorSession(store, documentId, draftStorageOf(user.id)),
    [store, documentId, user.id],
  )
  useEffect(() => {
    if (!loaded) return
    void session.recall()
    const timer = setTimeout(() => void session.recall(), CLOSED_MS)
    return () => clearTimeout(timer)
  }, [session, loaded])
  useEffect(() => {
    const hidden = () => void (document.visibilityState === 'hidden' && session.saveAll())
    document.addEventListener('visibilitychange', hidden)
    return () => {
      document.removeEventListener('visibilitychange', hidden)
      session.saveAll()
    }
  }, [session])
  return session
}
