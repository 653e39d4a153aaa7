import { useDeferredValue } from 'react'
import { isTerminal, statusText, type RunState } from '@outlast/sdk'
import { AnswerHead } from './answer-head'
import { Parts } from './parts'
import { PausedNote } from './paused-note'
import { RunEnd } from './run-end'
import { useThreadFacts } from './thread-context'
import { Workflow } from './workflow'

/** An answer while it is made; replaced by the saved message. */
export function LiveAnswer({ run }: { run: RunState }) {
  const parts = useDeferredValue(run.parts)
  const ended = isTerminal(run.status)
  const { look } = useThreadFacts()
  if (run.status === 'completed' && run.parts.length === 0) return null
  return (
    <article aria-label="Answer" aria-busy={!ended} data-live={run.run_id} data-status={run.status}>
      {look === 'panel' && <AnswerHead model={run.model} credits={null} at={null} />}
      <div className="space-y-3">
        <Workflow run={run} when="before" />
        <Parts parts={parts} pending={run.pending} live={!ended} />
        <Workflow run={run} when="after" />
      </div>
      {run.status === 'paused' && <PausedNote run={run} />}
      {ended && run.status !== 'completed' ? (
        <RunEnd
          runId={run.run_id}
          status={run.status === 'error' ? 'error' : 'cancelled'}
          stopReason={run.stop_reason}
          error={run.error}
          canRestart
        />
      ) : (
        <StatusLine run={run} />
      )}
    </article>
  )
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
      {run.attempt > 1 && <span className="text-faint">attempt {run.attempt}</span>}
    </p>
  )
}
