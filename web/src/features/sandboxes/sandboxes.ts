import { queryOptions } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import type { OutlastEvent, Page, Sandbox } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, queryClient } from '@/lib/queries'

const MEASURE_EVERY_MS = 10_000
const GATHER_MS = 250

/** A project's living sandboxes. Their resources are measured again while the list is shown. */
export const sandboxesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['sandboxes', projectId],
    queryFn: ({ signal }) => client.sandboxes(projectId, signal),
    refetchInterval: MEASURE_EVERY_MS,
    staleTime: 0,
  })

/** Applies each change at once, and loads the list again once a burst of changes is over. */
export function useSandboxNews(projectId: string): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event !== 'sandbox.state') return
        patchSandbox(projectId, event.data)
        clearTimeout(timer.current)
        timer.current = setTimeout(() => void queryClient.invalidateQueries({ queryKey: ['sandboxes'] }), GATHER_MS)
      },
      [projectId],
    ),
  )
}

interface News extends Pick<Sandbox, 'state' | 'pause_kind' | 'services'> {
  sandbox_id: string
}

function patchSandbox(projectId: string, news: News): void {
  queryClient.setQueryData<Page<Sandbox>>(
    sandboxesQuery(projectId).queryKey,
    (page) => page && { ...page, items: afterNews(page.items, news) },
  )
}

/** The list after one event: its sandbox was updated, or removed. Pure. */
export function afterNews(items: Sandbox[], { sandbox_id, state, pause_kind, services }: News): Sandbox[] {
  if (state === 'lost' || state === 'killed') return items.filter(({ id }) => id !== sandbox_id)
  return items.map((one) => (one.id === sandbox_id ? { ...one, state, pause_kind, services } : one))
}
