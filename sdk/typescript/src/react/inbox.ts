import { useCallback, useEffect, useMemo, useState } from 'react'
import type { OutlastClient } from '../client.ts'
import type { InboxItem, OutlastEvent } from '../api.gen.ts'
import { useClient } from './context.tsx'
import { useEvents } from './hooks.ts'
import { useProjectNews } from './news.ts'

export interface InboxView {
  items: readonly InboxItem[]
  isLoading: boolean
  error: Error | null
  refresh: () => void
  /** There are more items. */
  hasMore: boolean
  isLoadingMore: boolean
  loadMore: () => void
}

const INBOX_PAGE = 50
const NEWS = new Set([
  'inbox.changed',
  'approval.requested',
  'approval.resolved',
  'question.asked',
  'question.answered',
  'lock.requested',
  'lock.handed_over',
  'lock.released',
  'run.cancelled',
])
const GATHER_MS = 150

/** The user's inbox, of one project or of all; read again when a stream reports a change. */
export function useInbox(projectId?: string): InboxView {
  const client = useClient()
  const [found, setFound] = useState<ReadInbox | null>(null)
  const [wanted, setWanted] = useState(INBOX_PAGE)
  const [isLoadingMore, setLoadingMore] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const refresh = useCallback(() => {
    readInbox(client, projectId, wanted).then(
      (read) => (setFound(read), setError(null), setLoadingMore(false)),
      (reason: Error) => (setError(reason), setLoadingMore(false)),
    )
  }, [client, projectId, wanted])
  useEffect(refresh, [refresh])
  const loadMore = useCallback(() => (setLoadingMore(true), setWanted((count) => count + INBOX_PAGE)), [])
  useProjectNews(projectId ?? null)
  const later = useMemo(() => gathered(refresh), [refresh])
  useEffect(() => later.stop, [later])
  useEvents(useCallback(({ event }: OutlastEvent) => (NEWS.has(event) ? later.call() : undefined), [later]))
  return {
    items: found?.items ?? [],
    isLoading: found === null && error === null,
    error,
    refresh,
    hasMore: found?.hasMore ?? false,
    isLoadingMore,
    loadMore,
  }
}

interface ReadInbox {
  items: readonly InboxItem[]
  hasMore: boolean
}

/** The newest `wanted` items, page by page. */
async function readInbox(client: OutlastClient, projectId: string | undefined, wanted: number): Promise<ReadInbox> {
  const items: InboxItem[] = []
  let before: string | null = null
  do {
    const page: { items: InboxItem[]; next: string | null } = await client.inbox(projectId, {
      limit: Math.min(200, wanted - items.length),
      before,
    })
    items.push(...page.items)
    before = page.next
  } while (before !== null && items.length < wanted)
  return { items, hasMore: before !== null }
}

/** Calls once, shortly after the last of a burst. */
function gathered(call: () => void): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    call: () => {
      clearTimeout(timer)
      timer = setTimeout(call, GATHER_MS)
    },
    stop: () => clearTimeout(timer),
  }
}
