import { ArrowRight } from 'lucide-react'
import type { HandoffPart } from '@outlast/sdk'

/** Where an agent handed the conversation over to another one, whose answer follows. */
export function HandoffLine({ part: { by, title, reason } }: { part: HandoffPart }) {
  return (
    <section role="note" aria-label="Handoff" data-handoff className="pt-1 text-[13px]">
      <p className="flex items-center gap-3 text-muted before:h-px before:min-w-4 before:flex-1 before:bg-line after:h-px after:min-w-4 after:flex-1 after:bg-line">
        <span className="flex min-w-0 items-center gap-1.5">
          <ArrowRight className="size-3.5 shrink-0 text-faint" aria-hidden />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {by} handed over to {title}
          </span>
        </span>
      </p>
      {reason !== '' && (
        <p className="mx-auto mt-1 max-w-prose text-center text-xs [overflow-wrap:anywhere] whitespace-pre-line text-faint">
          {reason}
        </p>
      )}
    </section>
  )
}
