import type { ActionData, OutlastEvent, PageAction, PageData, SentAction } from '../api.gen.ts'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { activeRun, ThreadStore } from '../thread-store.ts'
import { LivePage, type PageChange } from '../live-page.ts'
import { withAction } from '../pages.ts'
import type { Store } from '../store.ts'
import type { RunState } from '../fold.ts'
import { useClient, useShared, useStore } from './context.tsx'
import { useEvents } from './hooks.ts'
import { Nothing, useProjectNews } from './news.ts'

export interface LivePageView {
  /** Title, state and other data, as last reported by the project's stream, without HTML; null until loaded. */
  page: PageData | null
  /** The version of the last `onChange` call; -1 before the first one. */
  version: number
  /** The active run with its output so far, or null if there is none. */
  activeRun: RunState | null
  isLoading: boolean
  error: Error | null
  /** Calls back with the whole page, then with each change, to apply in order. Returns a function that stops this. */
  onChange: (show: (change: PageChange) => void) => () => void
  /** Reads the whole page again, after a patch that could not be applied. */
  reload: () => void
  rename: (title: string) => Promise<PageData>
  /** Undoes the last change by a run or a user. */
  undo: () => Promise<PageData>
  restore: (version: number) => Promise<PageData>
}

/** A page kept up to date, with its actions as a whole. Show it in a frame of an origin without any rights: its HTML is
 * sanitised, but still untrusted. */
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
        listenSnapshots: client.listenSnapshots.bind(client),
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
  /** The last actions, newest first. */
  actions: PageAction[]
  /** Actions that wait for the next run, in order. */
  waiting: PageAction[]
  isLoading: boolean
  error: Error | null
  /** Sends a user's action on the page. Repeating the key returns the first response. */
  act: (name: string, data?: ActionData, idempotencyKey?: string) => Promise<SentAction>
  /** Withdraws a waiting action. */
  takeBack: (actionId: string) => Promise<void>
}

const LISTED = 50

/** Sends actions on a page, and follows their state. `usePage`, or `useThread` of the page's thread, opens the
 * stream. */
export function usePageActions(pageId: string): PageActions {
  const client = useClient()
  const [actions, setActions] = useState<PageAction[] | null>(null)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => {
    let reading = new AbortController()
    let meanwhile: PageAction[] = []
    const load = () => {
      reading.abort()
      reading = new AbortController()
      meanwhile = []
      const { signal } = reading
      client.pages.actions(pageId, { limit: LISTED, signal }).then(
        ({ items }) => signal.aborted || setActions(meanwhile.reduce(withAction, items)),
        (reason: Error) => signal.aborted || setError(reason),
      )
    }
    const deaf = client.listen(({ event, data }) => {
      if (event !== 'page.action' || data.action.page_id !== pageId) return
      meanwhile.push(data.action)
      setActions((known) => withAction(known ?? [], data.action))
    })
    const stop = client.listenSnapshots((noun) => noun === 'threads' && load())
    load()
    return () => (reading.abort(), deaf(), stop(), setActions(null), setError(null))
  }, [client, pageId])
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

/** The active run of a thread, with the thread's stream open. */
function useThreadNews(threadId: string | null): RunState | null {
  const store = useShared<ThreadStore | Nothing>(threadId === null ? 'nothing' : `thread ${threadId}`, (client) =>
    threadId === null ? new Nothing() : new ThreadStore(client, threadId),
  )
  const snapshot = useStore<unknown>(store as Store<unknown>)
  return store instanceof ThreadStore ? activeRun(snapshot as ReturnType<ThreadStore['get']>) : null
}
