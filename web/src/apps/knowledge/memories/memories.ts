/** The memories of a project and of the signed-in person, loaded again when the project's stream reports a change. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { MemoryData, OutlastEvent } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, queryClient } from '@/lib/queries'
import { useFreshOnceLive } from '@/features/shell/active-project'

export type Scope = MemoryData['scope']

export const SCOPES: readonly { scope: Scope; label: string; about: string }[] = [
  { scope: 'project', label: 'Project', about: 'Shared: agents use these in every thread of this project.' },
  {
    scope: 'person',
    label: 'Yours',
    about: 'Only you see these. Agents use them in projects that have no other member.',
  },
  { scope: 'run', label: 'Runs', about: 'What each run did, in one line. Agents search these in this project.' },
]

export const MEMORY_CHARS = 500

export const memoriesQuery = (projectId: string, scope: Scope) =>
  infiniteQueryOptions({
    queryKey: ['memories', projectId, scope],
    queryFn: ({ pageParam, signal }) =>
      client.memories.list(projectId, { scope, signal, ...(pageParam !== '' && { before: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })

export const switchesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['memory-switches', projectId],
    queryFn: ({ signal }) => client.memories.switches(projectId, signal),
  })

export const refreshMemories = (projectId: string): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: ['memories', projectId] })

export function useMemoryNews(projectId: string): void {
  useFreshOnceLive(['memories', projectId])
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'memory.changed') void refreshMemories(projectId)
      },
      [projectId],
    ),
  )
}
