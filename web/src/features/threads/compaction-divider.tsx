import { ChevronRight, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { CompactionData, Message } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Markdown } from '@/components/markdown'
import { complain, say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { useThreadFacts } from './thread-context'

/** The message above which the divider stands: the first that the summary does not cover. Null if it is not loaded, or
 * if the page shows no message that the summary covers. */
export function firstAfter(compaction: CompactionData | null, messages: Message[]): string | null {
  if (compaction === null || (messages[0]?.position ?? Infinity) > compaction.to_position) return null
  const first = messages.find(({ role, position }) => role === 'user' && position > compaction.to_position)
  return first?.id ?? null
}

/** Where the messages end that the agent reads as a summary. */
export function CompactionDivider({ compaction }: { compaction: CompactionData }) {
  const { role } = useThreadFacts()
  const [open, setOpen] = useState(false)
  const [undoing, setUndoing] = useState(false)
  const undo = () => {
    setUndoing(true)
    client
      .undoCompaction(compaction.thread_id, compaction.id)
      .then(() => say('The agent reads the earlier messages again'), complain)
      .finally(() => setUndoing(false))
  }
  return (
    <section aria-label="Summary of earlier messages" data-compaction>
      <div className="flex items-center gap-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        <button
          aria-expanded={open}
          className="flex items-center gap-1 rounded text-xs text-faint hover:text-fg"
          onClick={() => setOpen(!open)}
        >
          <ChevronRight className={cn('size-3 transition-transform', open && 'rotate-90')} aria-hidden />
          Earlier messages were summarized
        </button>
      </div>
      {open && (
        <div className="mt-3 rounded-xl border border-line bg-side px-4 py-3 text-muted">
          <p className="mb-2 text-xs">The agent reads this summary instead of the messages above.</p>
          <div className="max-h-96 overflow-y-auto [&_.prose]:text-[13.5px]">
            <Markdown text={compaction.text} />
          </div>
          {role !== null && role !== 'viewer' && (
            <Button size="sm" look="ghost" className="mt-2 -ml-2.5" busy={undoing} onClick={undo}>
              <Undo2 />
              Undo
            </Button>
          )}
        </div>
      )}
    </section>
  )
}
