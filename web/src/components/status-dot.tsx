import type { RunStatus, ThreadRunStatus } from '@outlast/sdk'
import { cn } from '@/lib/cn'

const LOOK: Record<ThreadRunStatus | RunStatus, [className: string, label: string]> = {
  idle: ['bg-transparent', ''],
  complete: ['bg-transparent', ''],
  completed: ['bg-ok', 'Completed'],
  generating: ['bg-accent animate-breathe', 'Working'],
  running: ['bg-accent animate-breathe', 'Running'],
  queued: ['border-2 border-accent', 'Queued'],
  awaiting_approval: ['bg-amber', 'Waiting for you'],
  paused: ['border-2 border-amber', 'Paused'],
  error: ['bg-danger', 'Error'],
  cancelled: ['bg-faint', 'Cancelled'],
}

export const statusLabel = (status: ThreadRunStatus | RunStatus): string => LOOK[status][1]

export function StatusDot({ status, className }: { status: ThreadRunStatus | RunStatus; className?: string }) {
  const [look, label] = LOOK[status]
  return (
    <span
      role={label === '' ? undefined : 'img'}
      aria-label={label === '' ? undefined : label}
      title={label === '' ? undefined : label}
      className={cn('inline-block size-2 shrink-0 rounded-full', look, className)}
    />
  )
}
