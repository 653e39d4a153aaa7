/** A project's documents, kept in step with its stream. */
import { queryOptions } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import type { DocumentData, OutlastEvent, Page } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, queryClient, showNews } from '@/lib/queries'
import { useActiveProject } from '@/features/shell/active-project'

const LIST = 200

export const documentsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['documents', projectId],
    queryFn: async ({ signal }): Promise<DocumentData[]> => {
      const all: DocumentData[] = []
      for (let next: string | null = ''; next !== null;) {
        const page: Page<DocumentData> = await client.documents.list(projectId, {
          limit: LIST,
          signal,
          ...(next !== '' && { after: next }),
        })
        all.push(...page.items)
        next = page.next
      }
      return all
    },
    staleTime: Infinity, // the project's stream keeps it in step
  })

/** Puts a document as the server now has it into the list that was loaded. */
export function putDocument(document: DocumentData): void {
  showNews<DocumentData[]>(documentsQuery(document.project_id).queryKey, (all) => withDocument(all, document))
}

export function dropDocument(projectId: string, documentId: string): void {
  showNews<DocumentData[]>(documentsQuery(projectId).queryKey, (all) => all.filter(({ id }) => id !== documentId))
}

/** The list with a document in it; an answer that was overtaken by a later event changes nothing. Pure. */
export function withDocument(all: DocumentData[], document: DocumentData): DocumentData[] {
  if (!all.some(({ id }) => id === document.id)) return [...all, document]
  return all.map((one) =>
    one.id !== document.id || Date.parse(document.updated_at) < Date.parse(one.updated_at) ? one : document,
  )
}

/** Keeps a project's documents in step with its stream. */
export function useDocumentNews(projectId: string): void {
  const { connection } = useActiveProject()
  const live = connection.status === 'live'
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
  useEffect(() => {
    // What was loaded before the stream was open may lack what happened in between.
    if (live) void queryClient.invalidateQueries({ queryKey: documentsQuery(projectId).queryKey })
  }, [live, projectId])
}
