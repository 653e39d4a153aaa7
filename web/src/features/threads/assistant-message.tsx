import { memo } from 'react'
import { Link } from 'wouter'
import type { Message, RunState } from '@outlast/sdk'
import { CopyIcon } from '@/components/copy'
import { ClockTime } from '@/components/time'
import { plural } from '@/lib/format'
import { ChangedFilesButton } from '../files/files-button'
import { ForkButton } from './fork-button'
import { Parts } from './parts'
import { RunEnd } from './run-end'
import { textOf } from './user-message'

interface AssistantMessageProps {
  message: Message
  /** Known while this page saw the run. */
  run: RunState | undefined
  isLast: boolean
}

/** A saved answer, whole or partial. */
export const AssistantMessage = memo(function AssistantMessage({ message, run, isLast }: AssistantMessageProps) {
  return (
    <article aria-label="Answer" data-message={message.id} data-status={message.status} className="group">
      <Parts parts={message.parts} />
      {message.status !== 'complete' && (
        <RunEnd
          runId={message.run_id}
          status={message.status === 'partial' ? 'error' : message.status}
          stopReason={message.stop_reason}
          error={message.error ?? run?.error ?? null}
          canRestart={isLast}
        />
      )}
      {message.status === 'complete' && <Problems problems={run?.problems ?? []} />}
      <footer className="mt-1 -ml-1.5 flex h-7 items-center gap-0.5 text-xs text-faint">
        <CopyIcon label="Copy answer" text={() => textOf(message)} />
        <ForkButton messageId={message.id} />
        <ChangedFilesButton messageId={message.id} />
        <span className="ml-1 flex min-w-0 items-center gap-1.5 opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100">
          <ClockTime iso={message.created_at} />
          {message.model !== null && <span className="truncate">{message.model}</span>}
          {message.credits !== null && message.credits > 0 && <span>{plural(message.credits, 'credit')}</span>}
          {message.run_id !== null && (
            <Link href={`/runs/${message.run_id}`} className="shrink-0 hover:text-fg hover:underline">
              Steps and cost
            </Link>
          )}
        </span>
      </footer>
    </article>
  )
})

function Problems({ problems }: { problems: string[] }) {
  if (problems.length === 0) return null
  return (
    <div className="mt-3 rounded-xl border border-warn-line bg-warn-soft px-3.5 py-2.5 text-warn">
      <p className="font-medium">Completed with problems. Nothing was charged.</p>
      <ul className="mt-1 list-disc pl-4">
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </div>
  )
}
