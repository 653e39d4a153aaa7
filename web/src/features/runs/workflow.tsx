import { CircleCheck, CircleDashed, CircleMinus, CircleX, LoaderCircle } from 'lucide-react'
import type { ComponentType } from 'react'
import { workflowLabel, type WorkflowStep } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { duration } from '@/lib/format'

const ICON: Record<WorkflowStep['status'], [icon: ComponentType<{ className?: string }>, className: string]> = {
  started: [LoaderCircle, 'text-accent motion-safe:animate-spin'],
  done: [CircleCheck, 'text-ok'],
  failed: [CircleX, 'text-danger'],
  skipped: [CircleDashed, 'text-faint'],
  cancelled: [CircleMinus, 'text-faint'],
}

/** The named steps of a run in progress, each with its last reported status. */
export function Workflow({ steps }: { steps: WorkflowStep[] }) {
  return (
    <>
      <h2 className="mt-8 mb-2 font-semibold">Workflow</h2>
      <ol className="gap-x-8 rounded-xl border border-line px-3.5 py-2 sm:columns-2">
        {steps.map((step) => (
          <Line key={step.name} step={step} />
        ))}
      </ol>
    </>
  )
}

function Line({ step }: { step: WorkflowStep }) {
  const [Icon, className] = ICON[step.status]
  const quiet = step.status === 'skipped' || step.status === 'cancelled'
  return (
    <li
      className="flex break-inside-avoid items-baseline gap-2 py-1"
      data-workflow={step.name}
      data-status={step.status}
    >
      <Icon aria-hidden className={cn('size-4 shrink-0 self-center', className)} />
      <span className={cn('min-w-0 flex-1 truncate', quiet && 'text-muted')} title={step.detail}>
        {workflowLabel(step)}
        <span className="sr-only">, {step.status}</span>
        {step.detail !== '' && (
          <span className={cn('ml-2 text-xs', step.status === 'failed' ? 'text-danger' : 'text-faint')}>
            {step.detail}
          </span>
        )}
      </span>
      <span className="shrink-0 text-xs text-muted tabular-nums">
        {step.duration_s === null ? '' : duration(step.duration_s)}
      </span>
    </li>
  )
}
