import { Check, CircleAlert, LoaderCircle, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import { stepsOf, type RunState, type StepStatus, type StreamingStep } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { duration } from '@/lib/format'

const ICON: Record<StepStatus, ReactNode> = {
  pending: <span className="size-1.5 rounded-full bg-faint" />,
  active: <LoaderCircle className="animate-spin text-link" />,
  complete: <Check className="text-ok" />,
  failed: <CircleAlert className="text-danger" />,
  skipped: <Minus className="text-faint" />,
}

/** Steps of an answer other than its tool calls: before the agent starts, or after it ends. */
export function AnswerSteps({ run, when }: { run: RunState; when: 'before' | 'after' }) {
  const begun = run.parts.length > 0
  const steps = stepsOf(run).filter((step) => step.call === null && isBefore(step) === (when === 'before'))
  // Once the agent answers, only failed steps are still shown.
  const shown = when === 'before' && begun ? steps.filter(({ status }) => status === 'failed') : steps
  if (shown.length === 0) return null
  return (
    <ul aria-label={when === 'before' ? 'Getting ready' : 'Finishing'} className="space-y-1.5">
      {shown.map((step) => (
        <li key={step.id} data-step={step.id} data-step-status={step.status} className="flex gap-2 text-[13px]">
          <span className="mt-0.5 grid size-4 shrink-0 place-items-center [&_svg]:size-3.5" aria-hidden>
            {ICON[step.status]}
          </span>
          <span className={cn('min-w-0 flex-1', step.status === 'active' ? 'text-fg' : 'text-muted')}>
            {step.label}
            {step.detail !== '' && <span className="block text-xs text-faint">{step.detail}</span>}
          </span>
          {step.duration_s !== null && step.duration_s >= 0.05 && (
            <span className="shrink-0 text-xs text-faint tabular-nums">{duration(step.duration_s)}</span>
          )}
        </li>
      ))}
    </ul>
  )
}

const EARLY = new Set(['load_screen', 'load_page', 'open_sandbox', 'tell_context_lost', 'load_messages'])
const isBefore = ({ id }: StreamingStep): boolean => EARLY.has(id)
