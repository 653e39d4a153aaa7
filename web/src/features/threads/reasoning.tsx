import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { ReasoningPart } from '@outlast/sdk'
import { Markdown } from '@/components/markdown'
import { cn } from '@/lib/cn'
import { duration } from '@/lib/format'
import { useOpenThread } from './thread-context'

/** The model's reasoning, folded; with its duration if this page followed it. */
export function Reasoning({ part: { id, text }, growing }: { part: ReasoningPart; growing: boolean }) {
  const [open, setOpen] = useState(false)
  const seconds = useOpenThread().open.thinking[id]?.seconds ?? null
  return (
    <section>
      <button
        aria-expanded={open}
        className="flex items-center gap-1.5 rounded text-[13px] text-muted hover:text-fg"
        onClick={() => setOpen(!open)}
      >
        <ChevronRight className={cn('size-3.5 transition-transform', open && 'rotate-90')} aria-hidden />
        <span className={cn(growing && 'shimmer-text')}>{growing ? 'Thinking' : thought(seconds)}</span>
      </button>
      {open && (
        <div className="mt-2 ml-1.5 border-l-2 border-line pl-4 text-muted [&_.prose]:text-[13.5px]">
          <Markdown text={text} />
        </div>
      )}
    </section>
  )
}

function thought(seconds: number | null): string {
  if (seconds === null) return 'Thought briefly'
  return seconds < 1.5 ? 'Thought for a moment' : `Thought for ${duration(Math.round(seconds))}`
}
