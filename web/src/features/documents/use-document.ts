import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { DocumentData, SectionData } from '@outlast/sdk'
import { client } from '@/lib/queries'
import { useActiveProject } from '../shell/active-project'
import { useDocumentRoom } from './document-context'
import { DocumentStore, type DocumentState } from './document-store'

/** A document followed for as long as the caller is shown. */
export function useDocument(documentId: string): { store: DocumentStore; state: DocumentState } {
  const { connection } = useActiveProject()
  const live = connection.status === 'live'
  const store = useMemo(
    () =>
      new DocumentStore({
        documentId,
        read: (signal) => client.documents.get(documentId, signal),
        changes: (since, signal) => client.documents.changes(documentId, since, signal),
        listen: (listener) => client.listen(listener),
      }),
    [documentId],
  )
  useEffect(() => {
    store.start()
    return () => store.stop()
  }, [store])
  useEffect(() => {
    // From here on the stream tells everything; what was read before it was open may lack something.
    if (live) store.catchUp()
  }, [live, store])
  return { store, state: useSyncExternalStore(store.subscribe, store.get) }
}

/** The open document's facts: title, counts, version. */
export function useDocumentData(): DocumentData | null {
  const { store } = useDocumentRoom()
  return useSyncExternalStore(store.subscribe, () => store.get().document)
}

/** Its sections with their blocks, in order. Whoever reads them is drawn anew with every change. */
export function useSections(): readonly SectionData[] {
  const { store } = useDocumentRoom()
  return useSyncExternalStore(store.subscribe, () => store.get().sections)
}
