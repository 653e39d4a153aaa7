import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { Checkpoint, FileDifference } from '@outlast/sdk'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/states'
import { cn } from '@/lib/cn'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'
import { diffLines, sums, type DiffLine } from './checkpoints'

const OPEN_AT_FIRST = 3
const WORDS = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const
const LOOKS: Record<DiffLine['kind'], string> = {
  added: 'bg-ok-soft text-ok',
  removed: 'bg-danger-soft text-danger',
  place: 'text-faint',
  same: '',
}
const SIGNS: Record<DiffLine['kind'], string> = { added: '+', removed: '-', place: '', same: ' ' }

/** What an answer, or a tool call, changed. */
export function Changes({ checkpoint }: { checkpoint: Checkpoint }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['checkpoint-diff', checkpoint.id],
    queryFn: ({ signal }) => client.checkpointDiff(checkpoint.id, undefined, signal),
    staleTime: Infinity,
  })
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={4} className="h-9" />
  if (data.changes.length === 0) return <Empty title="No file differs" className="py-8" />
  return (
    <ul className="space-y-2">
      {data.changes.map((change, at) => (
        <Change key={change.path} change={change} openAtFirst={at < OPEN_AT_FIRST} />
      ))}
      {data.truncated && <li className="text-faint">There are more changes than are shown.</li>}
    </ul>
  )
}

function Change({ change, openAtFirst }: { change: FileDifference; openAtFirst: boolean }) {
  const [open, setOpen] = useState(openAtFirst)
  const counted = change.diff === null ? null : sums(change.diff)
  return (
    <li data-change={change.change} className="overflow-hidden rounded-xl border border-line">
      <button
        type="button"
        aria-expanded={open}
        className="flex w-full items-center gap-2 px-3 py-2 text-left hover:bg-hover"
        onClick={() => setOpen(!open)}
      >
        <ChevronRight
          className={cn('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
          aria-hidden
        />
        <span className="min-w-0 flex-1 truncate font-mono text-[12.5px]">{change.path}</span>
        <span className="shrink-0 text-xs text-faint">{WORDS[change.change]}</span>
        {counted !== null && (
          <span className="shrink-0 font-mono text-xs">
            <span className="text-ok">+{counted.added}</span> <span className="text-danger">-{counted.removed}</span>
          </span>
        )}
      </button>
      {open &&
        (change.diff === null ? <Unreadable change={change} /> : <Lines diff={change.diff} path={change.path} />)}
    </li>
  )
}

function Lines({ diff, path }: { diff: string; path: string }) {
  return (
    <pre
      tabIndex={0}
      aria-label={`Changes of ${path}`}
      className="max-h-[46vh] overflow-auto border-t border-line bg-code py-1.5 font-mono text-xs leading-relaxed"
    >
      {diffLines(diff).map((line, at) => (
        <div key={at} className={cn('px-3 whitespace-pre', LOOKS[line.kind])}>
          {SIGNS[line.kind]}
          {line.text}
        </div>
      ))}
    </pre>
  )
}

function Unreadable({ change: { before_bytes, after_bytes } }: { change: FileDifference }) {
  const size = (count: number | null) => (count === null ? 'nothing' : bytes(count))
  return (
    <p className="border-t border-line px-3 py-2 text-muted">
      Not a text, or too long to show: {size(before_bytes)} before, {size(after_bytes)} now.
    </p>
  )
}
