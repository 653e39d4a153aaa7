import type { ReactNode } from 'react'
import { Mark } from '@/components/brand'
import { ClockTime } from '@/components/time'
import { plural } from '@/lib/format'
import { useModelLabel } from './model-choice'

interface AnswerHeadProps {
  model: string | null
  /** null until it is known. */
  credits: number | null
  /** The run did not complete, so nothing is charged. */
  failed?: boolean
  at: string | null
  children?: ReactNode
}

/** Header of an answer: model, cost and time. */
export function AnswerHead({ model, credits, failed = false, at, children }: AnswerHeadProps) {
  const label = useModelLabel(model)
  return (
    <header data-answer-head className="mb-2 flex min-w-0 items-center gap-2 text-xs text-faint">
      <Mark className="size-5 shrink-0" />
      <span className="truncate font-medium text-muted">{label ?? 'Outlast'}</span>
      {credits !== null && (
        <span data-credits className="shrink-0">
          {credits > 0 ? plural(credits, 'credit') : failed ? 'not charged' : 'free'}
        </span>
      )}
      {at !== null && <ClockTime iso={at} className="shrink-0" />}
      {children}
    </header>
  )
}
