import type { ActionData, OutlastEvent, PageAction, PageData, SentAction } from '../api.gen.ts'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { activeRun, ThreadStore } from '../threads.ts'
import { LivePage, type PageChange } from '../live-page.ts'
import { withAction } from '../pages.ts'
import type { Store } from '../store.ts'
import type { RunState } from '../fold.ts'
import { useClient, useShared, useStore } from './context.tsx'
import { useEvents } from './hooks.ts'
import { Nothing, useProjectNews } from './news.ts'

export interface LivePageView {
  /** Title, state and the like, as the project's stream last told them, without HTML; null until it is loaded. */
  page: PageData | null
  /** The version that `onChange` was last told of; -1 until there is one. */
  version: number
  /** The run that works on it, with what it has said so far; null: none does. */
  activeRun: RunState | null
  isLoading: boolean
  error: Error | null
  /** Calls back with the whole page, then with each change, to be applied in order. Returns how to stop. */
  onChange: (show: (change: PageChange) => void) => () => void
  /** Asks for the whole page again: after a patch that could not be applied. */
  reload: () => void
  rename: (title: string) => Promise<PageData>
  /** Takes back what the last run, or person, made of it. */
  undo: () => Promise<PageData>
  restore: (version: number) => Promise<PageData>
}

/** A page kept in step with the server, and what one can do to it as a whole. Show it in a frame of an origin that may do
 * nothing: its HTML is sanitised, and still a stranger's. */
export function usePage(pageId: string): LivePageView {
  const client = useClient()
  const [page, setPage] = useState<PageData | null>(null)
  const live = useMemo(
    () =>
      new LivePage({
        pageId,
        read: async (signal) => {
          const read = await client.pages.get(pageId, signal)
          setPage({ ...read, html: '' })
          return read
        },
        listen: client.listen.bind(client),
      }),
    [client, pageId],
  )
  useEffect(() => (live.start(), () => (live.stop(), setPage(null))), [live])
  const { version, loading, error } = useSyncExternalStore(live.subscribe, live.get, live.get)
  useProjectNews(page?.project_id ?? null)
  const thread = useThreadNews(page?.thread_id ?? null)
  useEvents(
    useCallback(
      ({ event, data }: OutlastEvent) => {
        if (event === 'page.updated' && data.page.id === pageId) setPage(data.page)
      },
      [pageId],
    ),
  )
  const change = useMemo(
    () => ({
      onChange: live.attach.bind(live),
      reload: live.reread,
      rename: (title: string) => client.pages.rename(pageId, title),
      undo: () => client.pages.undo(pageId),
      restore: (version: number) => client.pages.restore(pageId, version),
    }),
    [client, live, pageId],
  )
  return { page, version, activeRun: thread, isLoading: loading, error, ...change }
}

export interface PageActions {
  /** The last ones, newest first. */
  actions: PageAction[]
  /** Those that wait for the next run, in the order in which they were done. */
  waiting: PageAction[]
  isLoading: boolean
  error: Error | null
  /** Sends what somebody did on the page. The same key again gives the first answer. */
  act: (name: string, data?: ActionData, idempotencyKey?: string) => Promise<SentAction>
  /** Takes back one that waits. */
  takeBack: (actionId: string) => Promise<void>
}

const LISTED = 50

/** What is done on a page: sending it, and what becomes of it. Streams are opened by `usePage`, or `useThread` of the
 * page's thread. */
export function usePageActions(pageId: string): PageActions {
  const client = useClient()
  const [actions, setActions] = useState<PageAction[] | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    const life = new AbortController()
    client.pages.actions(pageId, { limit: LISTED, signal: life.signal }).then(
      ({ items }) => setActions((known) => (known ?? []).toReversed().reduce(withAction, items)),
      (reason: Error) => life.signal.aborted || setError(reason),
    )
    return () => (life.abort(), setActions(null), setError(null))
  }, [client, pageId])
  useEvents(
    useCallback(
      ({ event, data }: OutlastEvent) => {
        if (event === 'page.action' && data.action.page_id === pageId)
          setActions((known) => withAction(known ?? [], data.action))
      },
      [pageId],
    ),
  )
  const does = useMemo(
    () => ({
      act: (name: string, data?: ActionData, key?: string) => client.pages.act(pageId, name, data, key),
      takeBack: (actionId: string) => client.pages.takeBack(pageId, actionId),
    }),
    [client, pageId],
  )
  const waiting = useMemo(() => (actions ?? []).filter(({ state }) => state === 'waiting').toReversed(), [actions])
  return { actions: actions ?? [], waiting, isLoading: actions === null && error === null, error, ...does }
}

/** The run that works in a thread, with the thread's stream open. */
function useThreadNews(threadId: string | null): RunState | null {
  const store = useShared<ThreadStore | Nothing>(threadId === null ? 'nothing' : `thread ${threadId}`, (client) =>
    threadId === null ? new Nothing() : new ThreadStore(client, threadId),
  )
  const snapshot = useStore<unknown>(store as Store<unknown>)
  return store instanceof ThreadStore ? activeRun(snapshot as ReturnType<ThreadStore['get']>) : null
}
