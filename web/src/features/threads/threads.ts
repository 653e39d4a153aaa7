/** The threads of a project, updated by the project's stream. */
import { infiniteQueryOptions, type InfiniteData } from '@tanstack/react-query'
import type { ListedThread, Lock, Page, Thread } from '@outlast/sdk'
import { client, queryClient, showNews } from '@/lib/queries'

interface ThreadFilter {
  projectId: string
  status: 'open' | 'archived'
  q: string
}

const PAGE = 40

type Pages = InfiniteData<Page<ListedThread>, string | null>

export const threadsQuery = ({ projectId, status, q }: ThreadFilter) =>
  infiniteQueryOptions({
    queryKey: ['threads', { projectId, status, q }] as const,
    queryFn: ({ pageParam, signal }) =>
      client.threads(projectId, { ...(q === '' ? { status } : { q }), before: pageParam, limit: PAGE, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })

/** Applies a thread's changes to every loaded list: in place, or at the top of a list that it newly belongs to. */
export function patchThreads(thread: Thread): void {
  for (const [key] of queryClient.getQueriesData<Pages>({ queryKey: ['threads'] })) {
    const filter = key[1] as ThreadFilter
    if (filter.projectId === thread.project_id) showNews<Pages>(key, (data) => patchPages(data, thread, filter))
  }
}

/** Shows a thread's new lock in every loaded list. */
export function patchLock(threadId: string, lock: Lock | null): void {
  queryClient.setQueriesData<Pages>(
    { queryKey: ['threads'] },
    (data) => data && mapPages(data, (items) => items.map((item) => (item.id === threadId ? { ...item, lock } : item))),
  )
}

/** Removes a deleted thread from every loaded list. */
export function forgetThread(threadId: string): void {
  queryClient.setQueriesData<Pages>(
    { queryKey: ['threads'] },
    (data) => data && mapPages(data, (items) => items.filter(({ id }) => id !== threadId)),
  )
}

function patchPages(data: Pages, thread: Thread, filter: ThreadFilter): Pages {
  const known = data.pages.some(({ items }) => items.some(({ id }) => id === thread.id))
  if (filter.q !== '')
    return mapPages(data, (items) => items.map((item) => (item.id === thread.id ? { ...item, ...thread } : item)))
  if (thread.status !== filter.status) return mapPages(data, (items) => items.filter(({ id }) => id !== thread.id))
  const listed = { ...thread, match: null }
  if (known) return mapPages(data, (items) => items.map((item) => (item.id === thread.id ? listed : item)))
  return mapPages(data, (items, page) => (page === 0 ? [listed, ...items] : items))
}

const mapPages = (data: Pages, change: (items: ListedThread[], page: number) => ListedThread[]): Pages => ({
  ...data,
  pages: data.pages.map((page, index) => ({ ...page, items: change(page.items, index) })),
})
