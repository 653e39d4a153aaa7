import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { membersQuery } from '@/lib/queries'
import { useMe } from '@/features/session/session-gate'
import { useScreenNews, type ScreenNews } from './screens'

const SHOWN_MS = 2_400

/** Other people who have just moved or created a screen: their name is shown next to it briefly. */
export function useMovers(projectId: string): ReadonlyMap<string, string> {
  const me = useMe()
  const { data: members } = useQuery(membersQuery(projectId))
  const [movers, setMovers] = useState<ReadonlyMap<string, string>>(new Map())
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>())
  useEffect(() => () => timers.current.forEach(clearTimeout), [])
  const onEvent = useCallback(
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
  useScreenNews(projectId, onEvent)
  return movers
}

/** The other person who moved or created a screen, according to an event. Pure. */
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
