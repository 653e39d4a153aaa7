/** Actions on a page that are waiting or in progress. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { OutlastEvent, PageAction } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { complain } from '@/components/toast'
import { client, queryClient, showNews } from '@/lib/queries'
import { useFreshOnce } from '@/features/shell/active-project'
import { useOpenThread } from '@/features/threads/thread-context'
import type { FrameAction } from './page-frame'

const NEWEST = 50
const OPEN = new Set<PageAction['state']>(['waiting', 'taken'])

const actionsQuery = (pageId: string) =>
  queryOptions({
    queryKey: ['page-actions', pageId],
    queryFn: async ({ signal }) => (await client.pages.actions(pageId, { limit: NEWEST, signal })).items,
  })

/** The list, newest first, with the current state of an action. Pure. */
export function withAction(all: readonly PageAction[], action: PageAction): PageAction[] {
  const at = all.findIndex(({ id }) => id === action.id)
  return at === -1 ? [action, ...all] : all.with(at, action)
}

/** The frame's own actions that are not done yet: unanswered, waiting, or in progress. Pure. */
export function busyKeys(sent: ReadonlyMap<string, string | null>, actions: readonly PageAction[]): string[] {
  const known = new Map(actions.map((action) => [action.id, action.state]))
  return [...sent].flatMap(([key, id]) => {
    const state = id === null ? 'waiting' : (known.get(id) ?? 'waiting')
    return OPEN.has(state) ? [key] : []
  })
}

export function usePageActions(pageId: string) {
  const { data } = useQuery(actionsQuery(pageId))
  useFreshOnce(useOpenThread().open.connection.status === 'live', actionsQuery(pageId).queryKey)
  const actions = useMemo(() => data ?? [], [data])
  const [sent, setSent] = useState<ReadonlyMap<string, string | null>>(new Map())
  useEvents(
    useCallback(
      ({ event, data }: OutlastEvent) => {
        if (event !== 'page.action' || data.action.page_id !== pageId) return
        showNews<PageAction[]>(actionsQuery(pageId).queryKey, (all) => withAction(all, data.action))
      },
      [pageId],
    ),
  )
  const act = useCallback(
    ({ key, name, data }: FrameAction) => {
      setSent((all) => new Map(all).set(key, null))
      client.pages.act(pageId, name, data).then(
        ({ action_id }) => setSent((all) => new Map(all).set(key, action_id)),
        (reason: Error) => {
          complain(reason)
          setSent((all) => new Map([...all].filter(([one]) => one !== key)))
        },
      )
    },
    [pageId],
  )
  const takeBack = useCallback(
    (these: readonly PageAction[]) => {
      Promise.all(these.map(({ id }) => client.pages.takeBack(pageId, id)))
        .catch(complain)
        .finally(() => void queryClient.invalidateQueries({ queryKey: actionsQuery(pageId).queryKey }))
    },
    [pageId],
  )
  const keys = useMemo(() => busyKeys(sent, actions), [sent, actions])
  const waiting = useMemo(() => actions.filter(({ state }) => state === 'waiting').toReversed(), [actions])
  return { act, takeBack, busyKeys: keys, waiting }
}
