import { ChevronRight, Hammer } from 'lucide-react'
import { useState } from 'react'
import type { Pending } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { PendingCard } from '@/features/threads/pending-card'
import { Reasoning } from '@/features/threads/reasoning'
import { ToolCard } from '@/features/threads/tool-card'
import { failures, summaryOf, type Work } from './work-summary'

interface WorkGroupProps {
  parts: Work[]
  pending: Pending[]
  /** It is at the end of an answer that still grows: shown live. */
  growing: boolean
}

/** The agent's work between two pieces of prose: shown live while it happens, folded into one line afterwards. */
export function WorkGroup({ parts, pending, growing }: WorkGroupProps) {
  const [choice, setChoice] = useState<boolean | null>(null)
  const waits = parts.some(({ id }) => pending.some(({ part_id }) => part_id === id))
  const calls = parts.filter(({ type }) => type === 'tool_call').length
  const open = choice ?? (growing || waits || calls < 2)
  const failed = failures(parts)
  const rows = <Rows parts={parts} pending={pending} growing={growing} />
  if (calls < 2) return rows
  return (
    <section data-work>
      <button
        aria-expanded={open}
        className="flex max-w-full items-center gap-2 rounded-lg py-1 pr-2 text-left text-[13px] text-muted hover:text-fg"
        onClick={() => setChoice(!open)}
      >
        <Hammer className="size-3.5 shrink-0 text-faint" aria-hidden />
        <span className="truncate">{summaryOf(parts)}</span>
        {failed > 0 && <span className="shrink-0 text-danger">{failed} failed</span>}
        <ChevronRight
          className={cn('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
          aria-hidden
        />
      </button>
      {open && <div className="mt-1.5">{rows}</div>}
    </section>
  )
}

const Rows = ({ parts, pending, growing }: WorkGroupProps) => (
  <div className="space-y-1.5">
    {parts.map((part, at) => {
      const pendingItem = pending.find(({ part_id }) => part_id === part.id)
      if (pendingItem !== undefined) return <PendingCard key={part.id} pending={pendingItem} />
      if (part.type === 'reasoning')
        return <Reasoning key={part.id} part={part} growing={growing && at === parts.length - 1} />
      return <ToolCard key={part.id} part={part} />
    })}
  </div>
)
