import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { OutlastEvent, Sandbox, Theme, Thread } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { sandboxesQuery, useSandboxNews } from '@/features/sandboxes/sandboxes'
import { snapshotNews, type SnapshotNews } from '@/features/sandboxes/snapshot-news'
import { threadsQuery } from '@/features/threads/threads'
import { themesQuery } from './screens'

/** The project's living sandboxes by workspace, updated by its stream. */
export function useSandboxes(projectId: string): ReadonlyMap<string, Sandbox> {
  const { data } = useQuery({ ...sandboxesQuery(projectId), refetchInterval: false })
  useSandboxNews(projectId)
  const items = data?.items
  return useMemo(() => new Map(items?.map((one) => [one.workspace_id, one])), [items])
}

/** The progress of the snapshots that screens wait for, by template. */
export function useBuilding(projectId: string): ReadonlyMap<string, SnapshotNews> {
  const [building, setBuilding] = useState<ReadonlyMap<string, SnapshotNews>>(new Map())
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event !== 'snapshot.progress' || !event.id.startsWith(`${projectId}:`)) return
        const news = snapshotNews(event.data)
        const { template } = event.data
        setBuilding((all) => {
          const next = new Map(all)
          if (news === null) next.delete(template)
          else next.set(template, news)
          return next
        })
      },
      [projectId],
    ),
  )
  return building
}

export function useThemes(): ReadonlyMap<string, Theme> {
  const { data } = useQuery(themesQuery)
  return useMemo(() => new Map(data?.map((theme) => [theme.id, theme])), [data])
}

/** The threads that the sidebar lists, for their locks. */
export function useThreads(projectId: string): ReadonlyMap<string, Thread> {
  const { data } = useInfiniteQuery(threadsQuery({ projectId, status: 'open', q: '' }))
  return useMemo(() => new Map(data?.pages.flatMap(({ items }) => items.map((one) => [one.id, one]))), [data])
}
