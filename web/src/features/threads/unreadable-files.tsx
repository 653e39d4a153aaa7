import { useQuery } from '@tanstack/react-query'
import { FileX2 } from 'lucide-react'
import { useState } from 'react'
import type { Checkpoint, Part } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { complain, say } from '@/components/toast'
import type { WorkspaceTexts } from '@/lib/apps'
import { client, queryClient } from '@/lib/queries'
import { checkpointsQuery, useCheckpointNews } from '../workspace-files/checkpoints'
import { useOpenThread, useThreadFacts } from './thread-context'
import { useThreadViews } from './thread-views'

/** The code of the error, and of the notice in an answer. */
const UNREADABLE = 'workspace_unreadable'

export const isUnreadable = (error: { code: string } | null): boolean => error?.code === UNREADABLE

export const tellsUnreadable = (parts: readonly Part[]): boolean =>
  parts.some((part) => part.type === 'notice' && part.code === UNREADABLE)

const OF_A_THREAD: WorkspaceTexts = {
  owner: 'thread',
  start: 'Start with an empty workspace',
  lost: 'The agent loses the files of this thread and starts in an empty folder.',
  done: 'This thread restarted with an empty workspace.',
}

/** The first checkpoint of a new workspace. */
const isFresh = ({ reason, files }: Checkpoint): boolean =>
  reason === 'template' || (reason === 'person' && files === 0)

/** Reports that the files cannot be read, and lets editors continue without them. `since`: the time when that was
 * detected. */
export function UnreadableFiles({ since }: { since: string | null }) {
  const { threadId, profile, mayWrite } = useThreadFacts()
  const { open } = useOpenThread()
  useCheckpointNews(threadId)
  const { data, isPending } = useQuery(checkpointsQuery(threadId))
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const [started, setStarted] = useState(false)
  const texts = useThreadViews().agents[profile]?.workspace ?? OF_A_THREAD
  const later =
    data?.items.filter(({ created_at }) => since !== null && Date.parse(created_at) > Date.parse(since)) ?? []
  if (started || later.some(isFresh)) return <p className="mt-3 text-[13px] text-muted">{texts.done}</p>
  if (isPending || later.length > 0) return null // an earlier version was restored, or the missing file came back
  const start = () => {
    setBusy(true)
    client
      .resetWorkspace(threadId)
      .then(() => {
        setStarted(true)
        say(texts.done)
        void queryClient.invalidateQueries(checkpointsQuery(threadId))
      }, complain)
      .finally(() => setBusy(false))
  }
  return (
    <section
      data-unreadable
      aria-label="Files cannot be restored"
      className="mt-3 rounded-xl border border-danger-line bg-danger-soft px-3.5 py-3"
    >
      <p className="flex gap-2 font-medium text-danger">
        <FileX2 className="mt-0.5 size-4 shrink-0" aria-hidden />
        The files of this {texts.owner} cannot be restored
      </p>
      <p className="mt-1 pl-6 text-muted">
        A file that the server stored is missing or damaged. If there is a backup, ask the administrator of the server
        to restore it.
      </p>
      {mayWrite && (
        <div className="mt-2.5 pl-6">
          <Button size="sm" busy={busy} disabled={open.activeRun !== null} onClick={() => setAsking(true)}>
            {texts.start}
          </Button>
        </div>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`${texts.start}?`}
        action="Start again"
        onConfirm={start}
      >
        {texts.lost} The conversation stays. Earlier versions stay listed, but those that need the missing file cannot
        be restored.
      </Confirm>
    </section>
  )
}
