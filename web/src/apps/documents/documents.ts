/** A project's documents, updated by its stream. */
import { queryOptions } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { DocumentData, OutlastEvent } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, everyItem, showNews, withItem } from '@/lib/queries'
import { useFreshOnceLive } from '@/features/shell/active-project'

export const documentsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['documents', projectId],
    queryFn: ({ signal }) => everyItem((options) => client.documents.list(projectId, { ...options, signal })),
    staleTime: Infinity, // updated by the project's stream
  })

/** Puts the server's latest state of a document into the loaded list. */
export function putDocument(document: DocumentData): void {
  showNews<DocumentData[]>(documentsQuery(document.project_id).queryKey, (all) => withItem(all, document))
}

export function dropDocument(projectId: string, documentId: string): void {
  showNews<DocumentData[]>(documentsQuery(projectId).queryKey, (all) => all.filter(({ id }) => id !== documentId))
}

/** Updates a project's documents from its stream. */
export function useDocumentNews(projectId: string): void {
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'document.created' || event.event === 'document.updated') {
          if (event.data.document.project_id === projectId) putDocument(event.data.document)
        } else if (event.event === 'document.deleted') {
          dropDocument(projectId, event.data.document_id)
        }
      },
      [projectId],
    ),
  )
  useFreshOnceLive(documentsQuery(projectId).queryKey)
}
