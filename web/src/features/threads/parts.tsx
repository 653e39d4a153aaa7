import { Info, TriangleAlert } from 'lucide-react'
import type { NoticePart, Part, Pending } from '@outlast/sdk'
import { Markdown } from '@/components/markdown'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { ApprovalCard } from './approval-card'
import { QuestionCard } from './question-card'
import { Reasoning } from './reasoning'
import { ToolCard } from './tool-card'

interface PartsProps {
  parts: Part[]
  pending?: Pending[]
  live?: boolean
}

/** The pieces of an answer in order; what waits for a person is shown in the place of its tool call. */
export function Parts({ parts, pending = [], live = false }: PartsProps) {
  const placed = new Set(parts.map(({ id }) => id))
  return (
    <div className="space-y-3">
      {parts.map((part, index) => (
        <PartView
          key={part.id}
          part={part}
          pending={pending.find(({ part_id }) => part_id === part.id)}
          growing={live && index === parts.length - 1}
        />
      ))}
      {pending
        .filter(({ part_id }) => !placed.has(part_id))
        .map((item) => (
          <PendingCard key={item.id} pending={item} />
        ))}
    </div>
  )
}

function PartView({ part, pending, growing }: { part: Part; pending: Pending | undefined; growing: boolean }) {
  if (pending !== undefined) return <PendingCard pending={pending} />
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? null : <Markdown text={part.text} />
    case 'reasoning':
      return part.text.trim() === '' ? null : <Reasoning part={part} growing={growing} />
    case 'tool_call':
      return <ToolCard part={part} />
    case 'image':
      return (
        <img
          src={client.attachmentUrl(part.attachment_id)}
          alt={part.name}
          loading="lazy"
          className="max-h-96 max-w-full rounded-xl border border-line"
        />
      )
    case 'notice':
      return <Notice part={part} />
  }
}

const PendingCard = ({ pending }: { pending: Pending }) =>
  pending.kind === 'approval' ? <ApprovalCard approval={pending} /> : <QuestionCard question={pending} />

function Notice({ part: { level, text } }: { part: NoticePart }) {
  const Icon = level === 'info' ? Info : TriangleAlert
  return (
    <p
      role="note"
      className={cn(
        'flex gap-2 rounded-lg px-3 py-2 text-[13px]',
        level === 'info' && 'bg-side text-muted',
        level === 'warning' && 'bg-warn-soft text-warn',
        level === 'error' && 'bg-danger-soft text-danger',
      )}
    >
      <Icon className="mt-0.5 size-3.5 shrink-0" aria-hidden />
      {text}
    </p>
  )
}
