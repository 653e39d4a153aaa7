import { useQuery } from '@tanstack/react-query'
import { ChevronRight, FileSymlink } from 'lucide-react'
import { useState } from 'react'
import type { Checkpoint, FileDifference } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { bytes } from '@/lib/format'
import { client } from '@/lib/queries'
import { sums } from './checkpoints'
import { FileDiffView } from './file-diff'

const OPEN_AT_FIRST = 3
const WORDS = { added: 'Added', changed: 'Changed', removed: 'Removed' } as const
/** The changes of an answer or a tool call. */
export function Changes({ checkpoint }: { checkpoint: Checkpoint }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['checkpoint-diff', checkpoint.id],
    queryFn: ({ signal }) => client.checkpointDiff(checkpoint.id, undefined, signal),
    staleTime: Infinity,
  })
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={4} className="h-9" />
  return <ChangeList changes={data.changes} truncated={data.truncated} />
}

interface ChangeListProps {
  changes: readonly FileDifference[]
  truncated: boolean
  /** Opens the current version of a file. */
  onOpen?: (path: string) => void
}

/** Changed files, each with its lines; the first ones are open. */
export function ChangeList({ changes, truncated, onOpen }: ChangeListProps) {
  if (changes.length === 0) return <Empty title="No changes" className="py-8" />
  return (
    <ul className="space-y-2">
      {changes.map((change, at) => (
        <Change key={change.path} change={change} openAtFirst={at < OPEN_AT_FIRST} onOpen={onOpen} />
      ))}
      {truncated && <li className="text-faint">Some changes are not shown.</li>}
    </ul>
  )
}

interface ChangeProps {
  change: FileDifference
  openAtFirst: boolean
  onOpen: ((path: string) => void) | undefined
}

function Change({ change, openAtFirst, onOpen }: ChangeProps) {
  const [open, setOpen] = useState(openAtFirst)
  const counted = change.diff === null ? null : sums(change.diff)
  return (
    <li data-change={change.change} data-path={change.path} className="overflow-hidden rounded-xl border border-line">
      <div className="flex items-center pr-1 hover:bg-hover">
        <button
          type="button"
          aria-expanded={open}
          className="flex min-w-0 flex-1 items-center gap-2 px-3 py-2 text-left"
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
              <span className="text-added">+{counted.added}</span>{' '}
              <span className="text-removed">-{counted.removed}</span>
            </span>
          )}
        </button>
        {onOpen !== undefined && change.change !== 'removed' && (
          <IconButton label={`Open ${change.path}`} size="icon-sm" onClick={() => onOpen(change.path)}>
            <FileSymlink />
          </IconButton>
        )}
      </div>
      {open &&
        (change.diff === null ? (
          <Unreadable change={change} />
        ) : (
          <FileDiffView diff={change.diff} path={change.path} />
        ))}
    </li>
  )
}

function Unreadable({ change: { before_bytes, after_bytes } }: { change: FileDifference }) {
  const size = (count: number | null) => (count === null ? 'nothing' : bytes(count))
  return (
    <p className="border-t border-line px-3 py-2 text-muted">
      Binary or too large to show: {size(before_bytes)} before, {size(after_bytes)} after.
    </p>
  )
}
