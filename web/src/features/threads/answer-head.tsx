import type { ReactNode } from 'react'
import { Mark } from '@/components/brand'
import { ClockTime } from '@/components/time'
import { plural } from '@/lib/format'
import { useModelLabel } from './model-choice'

interface AnswerHeadProps {
  model: string | null
  /** null: not known yet. */
  credits: number | null
  at: string | null
  children?: ReactNode
}

/** Who answers: the mark, which model, what it cost, when. */
export function AnswerHead({ model, credits, at, children }: AnswerHeadProps) {
  const label = useModelLabel(model)
  return (
    <header data-answer-head className="mb-2 flex min-w-0 items-center gap-2 text-xs text-faint">
      <Mark className="size-5 shrink-0" />
      <span className="truncate font-medium text-muted">{label ?? 'Outlast'}</span>
      {credits !== null && (
        <span data-credits className="shrink-0">
          {credits === 0 ? 'free' : plural(credits, 'credit')}
        </span>
      )}
      {at !== null && <ClockTime iso={at} className="shrink-0" />}
      {children}
    </header>
  )
}
