import { Bot, Check, CircleAlert, CircleSlash, ChevronRight, LoaderCircle, MessageCircleQuestion } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { RunState, SubrunPart } from '@outlast/sdk'
import { useRun } from '@outlast/sdk/react'
import { cn } from '@/lib/cn'
import { fieldsOf } from './structured-text'

const MARK: Record<SubrunPart['status'] | 'waiting', [icon: ReactNode, label: string]> = {
  running: [<LoaderCircle className="animate-spin text-link" />, 'working'],
  waiting: [<MessageCircleQuestion className="text-warn" />, 'waiting for you'],
  completed: [<Check className="text-ok" />, 'done'],
  cancelled: [<CircleSlash className="text-faint" />, 'cancelled'],
  error: [<CircleAlert className="text-danger" />, 'failed'],
}

interface SubrunCardProps {
  part: SubrunPart
  /** Renders the other agent's answer. */
  children: (run: RunState) => ReactNode
}

/** The work of another agent that this answer started: open while it works, so that its approvals are seen. */
export function SubrunCard({ part, children }: SubrunCardProps) {
  const working = part.status === 'running'
  const [choice, setChoice] = useState<boolean | null>(null)
  const open = choice ?? working
  const name = part.title === '' ? part.agent : part.title
  const gist =
    fieldsOf(part.text)
      ?.map(([field, value]) => `${field}: ${value}`)
      .join(' · ') ?? (part.text.split('\n').find((line) => line.trim() !== '') ?? '').replaceAll('`', '')
  return (
    <section
      aria-label={`Work of ${name}`}
      data-subrun={part.agent}
      data-subrun-status={part.status}
      className="overflow-hidden rounded-xl border border-line bg-raised"
    >
      <button
        aria-expanded={open}
        className="flex w-full items-center gap-2.5 px-3 py-2 text-left text-[13px] hover:bg-hover max-md:min-h-11"
        onClick={() => setChoice(!open)}
      >
        {working ? <LiveMark runId={part.run_id} /> : <Mark status={part.status} />}
        <span className="flex shrink-0 items-center gap-1.5 font-medium">
          <Bot className="size-3.5 text-faint" aria-hidden />
          {name}
        </span>
        <span className="min-w-0 flex-1 truncate text-muted">{gist}</span>
        <ChevronRight className={cn('size-4 shrink-0 text-faint transition', open && 'rotate-90')} aria-hidden />
      </button>
      {open && (
        <div className="max-h-120 space-y-3 overflow-y-auto border-t border-line px-3 py-3">
          <Inside runId={part.run_id}>{children}</Inside>
        </div>
      )}
    </section>
  )
}

function LiveMark({ runId }: { runId: string }) {
  const { run } = useRun(runId)
  return <Mark status={run.pending.length > 0 ? 'waiting' : 'running'} />
}

function Mark({ status }: { status: keyof typeof MARK }) {
  const [icon, label] = MARK[status]
  return (
    <span role="img" aria-label={label} title={label} className="[&_svg]:size-4">
      {icon}
    </span>
  )
}

function Inside({ runId, children }: { runId: string; children: SubrunCardProps['children'] }) {
  const { run } = useRun(runId)
  return children(run)
}
