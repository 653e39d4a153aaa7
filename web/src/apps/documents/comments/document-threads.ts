/** The conversations about a document and its parts, updated by the project's stream. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { OutlastEvent, Thread } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, showNews } from '@/lib/queries'
import { useFreshOnceLive } from '@/features/shell/active-project'
import { documentOf } from '../subject'

const threadsOfDocument = (documentId: string) =>
  queryOptions({
    queryKey: ['document-threads', documentId],
    queryFn: async ({ signal }) => (await client.documents.threads(documentId, signal)).items,
  })

/** Adds or updates a conversation in the loaded list. */
export function putDocumentThread(thread: Thread): void {
  const documentId = documentOf(thread)
  if (documentId === null) return
  showNews<Thread[]>(threadsOfDocument(documentId).queryKey, (all) => withThread(all, thread))
}

/** The list with the current state of a thread. Pure. */
const withThread = (all: readonly Thread[], thread: Thread): Thread[] =>
  all.some(({ id }) => id === thread.id) ? all.map((one) => (one.id === thread.id ? thread : one)) : [...all, thread]

/** All conversations about a document, including archived ones; undefined until loaded. */
export function useDocumentThreads(documentId: string): { threads: Thread[] | undefined; error: Error | null } {
  const { data, error } = useQuery(threadsOfDocument(documentId))
  useFreshOnceLive(threadsOfDocument(documentId).queryKey)
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'thread.updated') putDocumentThread(event.data.thread)
        else if (event.event === 'thread.deleted')
          showNews<Thread[]>(threadsOfDocument(documentId).queryKey, (all) =>
            all.filter(({ id }) => id !== event.data.thread_id),
          )
      },
      [documentId],
    ),
  )
  return { threads: data, error }
}
