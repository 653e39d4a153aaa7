/** The files of a project, updated by its stream. */
import { infiniteQueryOptions, type InfiniteData } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { ArtifactData, OutlastEvent, Page } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, queryClient, showNews } from '@/lib/queries'
import { useFreshOnceLive } from '../shell/active-project'

type Parts = InfiniteData<Page<ArtifactData>, string>

export const filesQuery = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['project-files', projectId],
    queryFn: ({ pageParam, signal }) =>
      client.artifacts.list(projectId, { signal, ...(pageParam !== '' && { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    staleTime: Infinity, // updated by the project's stream
  })

/** The pages of a list with the current state of a file: updated in place, or new at the top. Pure. */
function withFile(pages: readonly Page<ArtifactData>[], file: ArtifactData): Page<ArtifactData>[] {
  const known = pages.some(({ items }) => items.some(({ id }) => id === file.id))
  return pages.map((page, at) => {
    if (known) return { ...page, items: page.items.map((one) => (one.id === file.id ? file : one)) }
    return at === 0 ? { ...page, items: [file, ...page.items] } : page
  })
}

/** Adds a file that was just uploaded, unless the stream has already delivered a newer state. */
export function addFile(file: ArtifactData): void {
  queryClient.setQueryData<Parts>(filesQuery(file.project_id).queryKey, (data) => {
    const known = data?.pages.some(({ items }) => items.some(({ id }) => id === file.id)) ?? true
    return data && !known ? { ...data, pages: withFile(data.pages, file) } : data
  })
}

function putFile(file: ArtifactData): void {
  change(file.project_id, (pages) => withFile(pages, file))
}

export function dropFile(projectId: string, fileId: string): void {
  change(projectId, (pages) => pages.map((page) => ({ ...page, items: page.items.filter(({ id }) => id !== fileId) })))
}

function change(projectId: string, next: (pages: Page<ArtifactData>[]) => Page<ArtifactData>[]): void {
  showNews<Parts>(filesQuery(projectId).queryKey, (data) => ({ ...data, pages: next(data.pages) }))
}

/** Applies each change at once; search results are loaded again. */
export function useFileNews(projectId: string): void {
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'artifact.created' || event.event === 'artifact.updated') putFile(event.data.artifact)
        else if (event.event === 'artifact.deleted') dropFile(projectId, event.data.artifact_id)
        else return
        void queryClient.invalidateQueries({ queryKey: ['project-file-search', projectId] })
      },
      [projectId],
    ),
  )
  useFreshOnceLive(filesQuery(projectId).queryKey)
}

export const isPicture = ({ media_type }: ArtifactData): boolean => media_type.startsWith('image/')
export const opens = (file: ArtifactData): boolean => isPicture(file) || file.media_type === 'application/pdf'
