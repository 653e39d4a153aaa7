import { memo } from 'react'
import { FileDiff } from 'lucide-react'
import { Link } from 'wouter'
import { isTerminal, statusText, type Message, type RunState } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { CopyIcon } from '@/components/copy'
import { ClockTime } from '@/components/time'
import { plural } from '@/lib/format'
import { ChangedFilesButton } from '../workspace-files/files-button'
import { AnswerAgent } from './answer-agent'
import { AnswerHead } from './answer-head'
import { ForkButton } from './fork-button'
import { MessageParts } from './message-parts'
import { PausedNote } from './paused-note'
import { AnswerProblems } from './answer-problems'
import { CutAtLimit, RunEnd } from './run-end'
import { useThreadFacts } from './thread-context'
import { useThreadViews } from './thread-views'
import { isUnreadable, tellsUnreadable, UnreadableFiles } from './unreadable-files'
import { textOf } from './user-message'
import { AnswerSteps } from './answer-steps'

interface AnswerProps {
  /** Null while the answer is generated, and for one that left nothing to save. */
  message: Message | null
  /** Set if this page saw the run. */
  run: RunState | undefined
  isLast: boolean
  /** A later run continued from the point where this one stopped. */
  continued: boolean
}

/** An answer, during generation and afterwards: the saved message replaces the run's parts in the same elements, so
 * that nothing renders again at the end. */
export const Answer = memo(function Answer({ message, run, isLast, continued }: AnswerProps) {
  const { look } = useThreadFacts()
  if (message === null && (run === undefined || leavesNothing(run))) return null
  const live = message === null ? run : undefined
  const working = live !== undefined && !isTerminal(live.status)
  return (
    <article
      aria-label="Answer"
      aria-busy={working}
      data-message={message?.id}
      data-live={live?.run_id}
      data-status={message?.status ?? live?.status}
      className="group"
    >
      {look === 'panel' && (
        <AnswerHead
          model={message?.model ?? live?.model ?? null}
          credits={message?.credits ?? null}
          failed={message !== null && (message.status !== 'complete' || message.stop_reason === 'problems')}
          at={message?.created_at ?? null}
        />
      )}
      <AnswerAgent profile={message?.profile ?? live?.profile ?? null} />
      <div className="space-y-3">
        {live !== undefined && <AnswerSteps run={live} when="before" />}
        <MessageParts
          key="parts"
          parts={message?.parts ?? live?.parts ?? []}
          pending={live?.pending ?? []}
          live={working}
        />
        {live !== undefined && <AnswerSteps run={live} when="after" />}
      </div>
      {live !== undefined && <Working run={live} />}
      <End message={message} run={run} canRestart={isLast} continued={continued} />
      {tellsUnreadable(message?.parts ?? []) && !isUnreadable(message?.error ?? null) && (
        <UnreadableFiles since={message?.created_at ?? null} />
      )}
      {message?.stop_reason === 'length' && isLast && message.run_id !== null && <CutAtLimit runId={message.run_id} />}
      {message?.status === 'complete' && <AnswerProblems message={message} run={run} isLast={isLast} />}
      {message !== null && <Foot message={message} />}
    </article>
  )
})

/** Completed without any output. */
const leavesNothing = ({ status, parts }: RunState): boolean => status === 'completed' && parts.length === 0

function Working({ run }: { run: RunState }) {
  if (isTerminal(run.status)) return null
  return (
    <>
      {run.status === 'paused' && <PausedNote run={run} />}
      <StatusLine run={run} />
    </>
  )
}

interface EndProps extends Pick<AnswerProps, 'message' | 'run' | 'continued'> {
  canRestart: boolean
}

/** The end of an answer that did not complete. */
function End({ message, run, canRestart, continued }: EndProps) {
  const status = message === null ? run?.status : ENDED[message.status]
  if (status !== 'cancelled' && status !== 'error') return null
  return (
    <RunEnd
      runId={message === null ? (run?.run_id ?? null) : message.run_id}
      status={status}
      stopReason={message?.stop_reason ?? run?.stop_reason ?? null}
      error={message?.error ?? run?.error ?? null}
      at={message?.created_at ?? null}
      canRestart={canRestart}
      continued={continued}
    />
  )
}

const ENDED: Record<Message['status'], 'cancelled' | 'error' | 'completed'> = {
  complete: 'completed',
  partial: 'error',
  error: 'error',
  cancelled: 'cancelled',
}

const WAITS = new Set(['awaiting_approval', 'paused'])

function StatusLine({ run }: { run: RunState }) {
  const text = statusText(run)
  const last = run.parts.at(-1)
  const shownAbove = run.status === 'running' && run.retry_at === null && last?.type === 'reasoning' && last.text !== ''
  if (text === '' || shownAbove) return null
  return (
    <p role="status" data-status-text className="mt-3 flex items-center gap-2 text-[13px]">
      {WAITS.has(run.status) ? (
        <>
          <span className="size-2 rounded-full bg-amber" />
          <span className="text-warn">{text}</span>
        </>
      ) : (
        <>
          <span className="size-2 animate-breathe rounded-full bg-accent" />
          <span className="shimmer-text">{text}</span>
        </>
      )}
      {run.attempt > 1 && !WAITS.has(run.status) && <span className="text-faint">attempt {run.attempt}</span>}
    </p>
  )
}

function Foot({ message }: { message: Message }) {
  const { look, profile, showChanges } = useThreadFacts()
  const answerText = useThreadViews().agents[profile]?.answerText ?? textOf
  const { run_id } = message
  return (
    <footer className="mt-1 -ml-1.5 flex h-7 items-center gap-0.5 text-xs text-faint">
      <CopyIcon label="Copy answer" text={() => answerText(message)} />
      <ForkButton messageId={message.id} />
      {showChanges === null ? (
        <ChangedFilesButton messageId={message.id} />
      ) : (
        run_id !== null && (
          <IconButton label="Changes in this answer" size="icon-sm" onClick={() => showChanges(run_id)}>
            <FileDiff />
          </IconButton>
        )
      )}
      <span className="ml-1 flex min-w-0 items-center gap-1.5 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100">
        {look === 'page' && <Facts message={message} />}
        {run_id !== null && (
          <Link href={`/runs/${run_id}`} className="shrink-0 hover:text-fg hover:underline">
            Steps and cost
          </Link>
        )}
      </span>
    </footer>
  )
}

const Facts = ({ message: { created_at, model, credits } }: { message: Message }) => (
  <>
    <ClockTime iso={created_at} />
    {model !== null && <span className="truncate">{model}</span>}
    {credits !== null && credits > 0 && <span>{plural(credits, 'credit')}</span>}
  </>
)
