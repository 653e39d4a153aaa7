import { CircleSlash, CircleX } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { RunError } from '@outlast/sdk'
import { Button } from '@/components/button'
import { client } from '@/lib/queries'
import { RefusalNote, Shortage } from './refusal-note'
import { useMayDrive } from './may-drive'
import { isUnreadable, UnreadableFiles } from './unreadable-files'

interface RunEndProps {
  runId: string | null
  status: 'cancelled' | 'error'
  stopReason: string | null
  error: RunError | null
  /** The time when the answer was saved. */
  at?: string | null
  /** Only the thread's last answer can be retried or continued. */
  canRestart: boolean
  /** A later answer continues from here: the error is shown less prominently. */
  continued?: boolean
}

const CANCELLED: Record<string, string> = {
  user: 'Cancelled',
  superseded: 'Interrupted by the next message',
  abandoned: 'Cancelled: no client was following this run',
  steps: 'Stopped at the step limit',
}

/** The end of an answer that did not complete, with the available actions. */
export function RunEnd({ runId, status, stopReason, error, at = null, canRestart, continued = false }: RunEndProps) {
  if (status === 'cancelled')
    return (
      <div data-end="cancelled" className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2 text-muted">
        <span className="flex items-center gap-1.5">
          <CircleSlash className="size-4 text-faint" aria-hidden />
          {CANCELLED[stopReason ?? 'user'] ?? 'Cancelled'}
        </span>
        {canRestart && runId !== null && <Restart runId={runId} />}
      </div>
    )
  if (continued) return <Continued runId={runId} error={error} />
  return (
    <>
      {isUnreadable(error) && <UnreadableFiles since={at} />}
      <div
        data-end="error"
        role="alert"
        className="mt-3 rounded-xl border border-danger-line bg-danger-soft px-3.5 py-3"
      >
        <p className="flex gap-2 text-danger">
          <CircleX className="mt-px size-4 shrink-0" aria-hidden />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {error?.message ?? 'The answer was stopped by an error.'}
          </span>
        </p>
        {error !== null && error.hint !== '' && !isUnreadable(error) && (
          <p className="mt-1 pl-6 text-muted">{error.hint}</p>
        )}
        {isCredits(error, stopReason) && <Shortage className="mt-1 pl-6" />}
        {runId !== null && (
          <div className="mt-2.5 flex flex-wrap items-center gap-2 pl-6">
            {canRestart && <Restart runId={runId} />}
            <Link href={`/runs/${runId}`} className="px-1 text-xs text-muted underline-offset-2 hover:underline">
              View run
            </Link>
          </div>
        )}
      </div>
    </>
  )
}

/** An answer that is complete except for its end, which the model's output limit cut off; its notice is shown above. */
export function CutAtLimit({ runId }: { runId: string }) {
  return (
    <div data-end="length" className="mt-3">
      <Restart runId={runId} ways={['continue']} />
    </div>
  )
}

const Continued = ({ runId, error }: Pick<RunEndProps, 'runId' | 'error'>) => (
  <details data-end="continued" className="mt-3 text-[13px] text-faint">
    <summary className="w-fit rounded hover:text-fg">Continued after an error</summary>
    <p className="mt-1 [overflow-wrap:anywhere]">
      {error?.message ?? 'The answer was stopped by an error.'}{' '}
      {runId !== null && (
        <Link href={`/runs/${runId}`} className="underline-offset-2 hover:underline">
          View run
        </Link>
      )}
    </p>
  </details>
)

const isCredits = (error: RunError | null, stopReason: string | null): boolean =>
  stopReason === 'credits' || error?.code === 'credits_needed'

type Way = 'retry' | 'continue'

const WAYS: Record<Way, string> = { retry: 'Retry', continue: 'Continue from here' }

function Restart({ runId, ways = ['retry', 'continue'] }: { runId: string; ways?: Way[] }) {
  const mayDrive = useMayDrive()
  const [busy, setBusy] = useState<Way | null>(null)
  const [refused, setRefused] = useState<Error | null>(null)
  if (!mayDrive) return null
  const start = (how: Way) => {
    setBusy(how)
    setRefused(null)
    client[how](runId)
      .catch((reason: Error) => setRefused(reason))
      .finally(() => setBusy(null))
  }
  return (
    <span className="flex flex-wrap gap-2">
      {refused !== null && <RefusalNote error={refused} className="w-full" />}
      {ways.map((way) => (
        <Button key={way} size="sm" busy={busy === way} disabled={busy !== null} onClick={() => start(way)}>
          {WAYS[way]}
        </Button>
      ))}
    </span>
  )
}
