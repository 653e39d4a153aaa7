import { isTerminal, type PageAction, type PageData } from '@outlast/sdk'
import { liveRuns } from '@outlast/sdk'
import { RunEnd } from '@/features/threads/run-end'
import { useMayDrive } from '@/features/threads/may-drive'
import { useOpenThread } from '@/features/threads/thread-context'
import { ThreadFooter } from '@/features/threads/thread-footer'
import { RunStrip } from './run-strip'
import { WaitingActions } from './waiting-actions'

interface PromptBarProps {
  page: PageData
  waiting: readonly PageAction[]
  mayTakeBack: boolean
  onTakeBack: (actions: readonly PageAction[]) => void
  isEmpty: boolean
  /** The conversation is open next to the page and shows how the last answer ended. */
  besides: boolean
}

/** Below the page: the current run, the waiting actions, and the box for the next request. */
export function PromptBar({ waiting, mayTakeBack, onTakeBack, isEmpty, besides }: PromptBarProps) {
  const { open } = useOpenThread()
  const mayDrive = useMayDrive()
  const run = open.activeRun
  const lastSaved = open.messages.at(-1)
  const failed = run === null && !besides ? failedRun(open) : null
  return (
    <div data-prompt-bar className="shrink-0 border-t border-line bg-bg pt-2">
      <div className="mx-auto w-full max-w-3xl space-y-2 px-3">
        {run !== null && <RunStrip run={run} mayStop={mayDrive} />}
        {failed !== null && (
          <RunEnd
            runId={failed.run_id}
            status={failed.status === 'error' ? 'error' : 'cancelled'}
            stopReason={failed.stop_reason}
            error={failed.error}
            canRestart={lastSaved === undefined || lastSaved.role === 'user' || lastSaved.run_id === failed.run_id}
          />
        )}
        <WaitingActions actions={waiting} mayTakeBack={mayTakeBack} onTakeBack={onTakeBack} />
      </div>
      <ThreadFooter placeholder={isEmpty ? 'Describe the page you want' : 'Ask for a change, or use the page'} />
    </div>
  )
}

/** The last run, if it failed without an answer that shows the error. */
function failedRun(open: ReturnType<typeof useOpenThread>['open']) {
  const last = open.messages.at(-1)
  if (last?.role === 'assistant') {
    if (last.status === 'complete' || last.status === 'partial' || last.run_id === null) return null
    return { run_id: last.run_id, status: last.status, stop_reason: last.stop_reason, error: last.error }
  }
  return liveRuns(open).findLast(({ status }) => isTerminal(status) && status !== 'completed') ?? null
}
