import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, type ReactNode } from 'react'
import { useThread } from '@outlast/sdk/react'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { useApps } from '@/lib/apps'
import { isSignedOut, meQuery, queryClient } from '@/lib/queries'
import { useSending } from './outgoing-message'
import { FactsContext, LiveContext, SenderContext, type OpenThread, type ThreadFacts } from './thread-context'
import { threadViewsQuery, ThreadViewsContext } from './thread-views'
import { NotFound, isHidden } from '@/components/not-loaded'

interface ThreadRoomProps extends Partial<Pick<ThreadFacts, 'look' | 'showChanges'>> {
  threadId: string
  /** The frame around the thread while it loads, and when it cannot be shown. */
  frame?: (inner: ReactNode) => ReactNode
  children: ReactNode
}

const bare = (inner: ReactNode) => inner

/** Follows a thread and provides it to its children; until it has loaded, shows the progress or the error. */
export function ThreadRoom({ threadId, look = 'page', showChanges = null, frame = bare, children }: ThreadRoomProps) {
  const open = useThread(threadId)
  const sender = useSending(threadId, open.messages)
  const views = useQuery(threadViewsQuery(useApps()))
  const { thread, connection, role } = open
  const profile = thread?.profile ?? ''
  const mayWrite = role !== 'viewer' && thread?.status === 'open'
  const facts = useMemo(
    () => ({ threadId, role, mayWrite, profile, look, showChanges }),
    [threadId, role, mayWrite, profile, look, showChanges],
  )
  useSignedOut(connection.error)
  if (connection.status === 'failed' && connection.error !== null) return frame(<Failed error={connection.error} />)
  if (views.error !== null) return frame(<Failed error={views.error} />)
  if (thread === null || views.data === undefined) return frame(<Loading open={open} />)
  return (
    <FactsContext value={facts}>
      <LiveContext value={{ open, thread }}>
        <SenderContext value={sender}>
          <ThreadViewsContext value={views.data}>{children}</ThreadViewsContext>
        </SenderContext>
      </LiveContext>
    </FactsContext>
  )
}

/** When the session has ended, redirects to the sign-in page, and back here afterwards. */
function useSignedOut(error: Error | null): void {
  useEffect(() => {
    if (isSignedOut(error)) void queryClient.invalidateQueries(meQuery)
  }, [error])
}

function Failed({ error }: { error: Error }) {
  if (!isHidden(error))
    return <Problem className="mx-auto mt-16 w-full max-w-xl" error={error} retry={() => location.reload()} />
  return <NotFound noun="Thread" href="/" label="Go to your threads" />
}

function Loading({ open: { connection, store } }: { open: OpenThread }) {
  const { error } = connection
  return (
    <div role="status" aria-label="Loading" className="mx-auto w-full max-w-3xl space-y-8 px-5 pt-10">
      {error !== null && <Problem error={error} retry={store.wake} />}
      <Skeleton className="ml-auto h-11 w-2/5 rounded-2xl" />
      <div className="space-y-2.5">
        <Skeleton className="h-4 w-11/12" />
        <Skeleton className="h-4" />
        <Skeleton className="h-4 w-3/5" />
      </div>
      <Skeleton className="ml-auto h-11 w-1/3 rounded-2xl" />
    </div>
  )
}
