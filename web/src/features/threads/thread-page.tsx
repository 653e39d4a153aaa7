import { useEffect, type ReactNode } from 'react'
import type { Thread, ThreadRunStatus } from '@outlast/sdk'
import { shownTitle } from '@/lib/format'
import { useActiveProject } from '../shell/active-project'
import { useThreadPreview } from '../preview/thread-preview'
import { PageHeader } from '../shell/shell'
import { ConnectionBar } from './connection-bar'
import { ThreadFooter } from './thread-footer'
import { MessageList } from './message-list'
import { useOpenThread } from './thread-context'
import { ThreadHeader } from './thread-header'
import { ThreadRoom } from './thread-room'

export default function ThreadPage({ threadId }: { threadId: string }) {
  return (
    <ThreadRoom threadId={threadId} frame={withEmptyHeader}>
      <Columns />
    </ThreadRoom>
  )
}

const withEmptyHeader = (inner: ReactNode) => (
  <>
    <PageHeader>
      <span />
    </PageHeader>
    {inner}
  </>
)

/** The conversation, and the preview of its sandbox next to it. */
function Columns() {
  const { open, thread } = useOpenThread()
  const { button, panel } = useThreadPreview()
  useTitle(thread)
  useFollowProject(thread)
  return (
    <>
      <ThreadHeader preview={button} />
      <div className="flex min-h-0 flex-1">
        <div data-for-writing className="relative flex min-w-0 flex-1 flex-col">
          <ConnectionBar connection={open.connection} onWake={open.store.wake} />
          <MessageList />
          <ThreadFooter />
        </div>
        {panel}
      </div>
    </>
  )
}

/** The tab's title shows whether an answer is in progress, waits for a person, or is complete. */
const SIGN: Partial<Record<ThreadRunStatus, string>> = { generating: '● ', awaiting_approval: '❗ ', paused: '❗ ' }

function useTitle(thread: Thread): void {
  useEffect(() => {
    document.title = `${SIGN[thread.run_status] ?? ''}${shownTitle(thread.title)} · Outlast`
  }, [thread])
}

/** Switches the sidebar to the project of the open thread. */
function useFollowProject({ project_id }: Thread): void {
  const { choose } = useActiveProject()
  useEffect(() => choose(project_id), [project_id, choose])
}
