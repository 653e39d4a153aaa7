import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { OutlastEvent, Sandbox, ScreenData, Theme, Thread } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { membersQuery } from '@/lib/queries'
import { sandboxesQuery, useSandboxNews } from '@/features/sandboxes/sandbox-news'
import { snapshotNews, type SnapshotNews } from '@/features/sandboxes/snapshot-news'
import { useMe } from '@/features/session/session-gate'
import { threadsQuery } from '@/features/threads/thread-cache'
import { themesQuery, useScreenNews, type ScreenNews } from './screens'

/** The project's living sandboxes by workspace, in step with its stream. */
export function useSandboxes(projectId: string): ReadonlyMap<string, Sandbox> {
  const { data } = useQuery({ ...sandboxesQuery(projectId), refetchInterval: false })
  useSandboxNews(projectId)
  const items = data?.items
  return useMemo(() => new Map(items?.map((one) => [one.workspace_id, one])), [items])
}

/** How far the snapshots are that screens wait for, by template. */
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

const SHOWN_MS = 2_400

/** Who else has just moved or made which screen: a name beside it for a moment. */
export function useMovers(projectId: string): ReadonlyMap<string, string> {
  const me = useMe()
  const { data: members } = useQuery(membersQuery(projectId))
  const [movers, setMovers] = useState<ReadonlyMap<string, string>>(new Map())
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>())
  useEffect(() => () => timers.current.forEach(clearTimeout), [])
  const hear = useCallback(
    (news: ScreenNews, before: ScreenData | null) => {
      const moved = whoMoved(news, before, me.user.id)
      if (moved === null) return
      const name = members?.items.find(({ user_id }) => user_id === moved.by)?.name ?? 'Someone'
      setMovers((all) => new Map(all).set(moved.screenId, name))
      const timer = setTimeout(() => {
        timers.current.delete(timer)
        setMovers((all) => new Map([...all].filter(([id]) => id !== moved.screenId)))
      }, SHOWN_MS)
      timers.current.add(timer)
    },
    [members, me.user.id],
  )
  useScreenNews(projectId, hear)
  return movers
}

/** Who else has moved or made a screen, as far as news say. Pure. */
export function whoMoved(
  news: ScreenNews,
  before: ScreenData | null,
  me: string,
): { screenId: string; by: string } | null {
  if (news.event === 'screen.deleted' || news.data.by == null || news.data.by === me) return null
  const { screen, by } = news.data
  const { x, y, width, height } = screen
  const same = before !== null && before.x === x && before.y === y && before.width === width && before.height === height
  return same ? null : { screenId: screen.id, by }
}
