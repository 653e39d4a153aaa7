import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Gone, PermissionNeeded, queuedRuns, type Message, type Thread, type ThreadRunStatus } from '@outlast/sdk'
import { useThread } from '@outlast/sdk/react'
import { Problem } from '@/components/problem'
import { Empty, Skeleton } from '@/components/states'
import { isSignedOut, meQuery, queryClient } from '@/lib/queries'
import { useActiveProject } from '../shell/active-project'
import { useThreadPreview } from '../preview/thread-preview'
import { PageHeader } from '../shell/shell'
import { ConnectionBar } from './connection-bar'
import { Footer } from './thread-footer'
import { MessageList } from './message-list'
import { FactsContext, LiveContext } from './thread-context'
import { ThreadHeader } from './thread-header'

export type OpenThread = ReturnType<typeof useThread>

export function ThreadPage({ threadId }: { threadId: string }) {
  const open = useThread(threadId)
  const { thread, connection, role } = open
  const [sending, setSending] = useState<Message | null>(null)
  useTitle(thread)
  const mayWrite = role !== 'viewer' && thread?.status === 'open'
  const facts = useMemo(() => ({ threadId, role, mayWrite }), [threadId, role, mayWrite])
  useFollowProject(thread)
  useSignedOut(connection.error)
  if (connection.status === 'failed' && connection.error !== null) return <Failed error={connection.error} />
  if (thread === null) return <Loading error={connection.error} retry={open.store.wake} />
  return (
    <FactsContext value={facts}>
      <LiveContext value={{ open, thread }}>
        <Columns>
          <ConnectionBar connection={connection} onWake={open.store.wake} />
          <MessageList open={open} queued={queuedRuns(open)} sending={sending} />
          <Footer onSending={setSending} />
        </Columns>
      </LiveContext>
    </FactsContext>
  )
}

/** The conversation, and what its sandbox shows beside it. */
function Columns({ children }: { children: ReactNode }) {
  const { button, panel } = useThreadPreview()
  return (
    <>
      <ThreadHeader preview={button} />
      <div className="flex min-h-0 flex-1">
        <div className="relative flex min-w-0 flex-1 flex-col">{children}</div>
        {panel}
      </div>
    </>
  )
}

/** The tab's title says whether an answer is being made, waits for a person, or is there. */
const SIGN: Partial<Record<ThreadRunStatus, string>> = { generating: '● ', awaiting_approval: '❗ ', paused: '❗ ' }

function useTitle(thread: Thread | null): void {
  useEffect(() => {
    if (thread === null) return
    document.title = `${SIGN[thread.run_status] ?? ''}${thread.title === '' ? 'Untitled' : thread.title} · Outlast`
  }, [thread])
}

/** A session that has ended leads to the sign-in page, and back here afterwards. */
function useSignedOut(error: Error | null): void {
  useEffect(() => {
    if (isSignedOut(error)) void queryClient.invalidateQueries(meQuery)
  }, [error])
}

/** A thread of another project brings that project into the sidebar. */
function useFollowProject(thread: Thread | null): void {
  const { choose } = useActiveProject()
  const projectId = thread?.project_id
  useEffect(() => {
    if (projectId !== undefined) choose(projectId)
  }, [projectId, choose])
}

function Failed({ error }: { error: Error }) {
  const hidden = error instanceof Gone || error instanceof PermissionNeeded
  return (
    <>
      <PageHeader>
        <span />
      </PageHeader>
      {hidden ? (
        <Empty
          className="pt-[20vh]"
          title="This thread is not here"
          action={
            <Link href="/" className="text-link underline underline-offset-2">
              Go to your threads
            </Link>
          }
        >
          It was deleted, or you are not a member of its project. {error.message}
        </Empty>
      ) : (
        <Problem className="mx-auto mt-16 w-full max-w-xl" error={error} retry={() => location.reload()} />
      )}
    </>
  )
}

function Loading({ error, retry }: { error: Error | null; retry: () => void }) {
  return (
    <>
      <PageHeader>
        <Skeleton className="h-4 w-48" />
      </PageHeader>
      <div role="status" aria-label="Loading" className="mx-auto w-full max-w-3xl space-y-8 px-5 pt-10">
        {error !== null && <Problem error={error} retry={retry} />}
        <Skeleton className="ml-auto h-11 w-2/5 rounded-2xl" />
        <div className="space-y-2.5">
          <Skeleton className="h-4 w-11/12" />
          <Skeleton className="h-4" />
          <Skeleton className="h-4 w-3/5" />
        </div>
        <Skeleton className="ml-auto h-11 w-1/3 rounded-2xl" />
      </div>
    </>
  )
}
