import { useInfiniteQuery } from '@tanstack/react-query'
import { ChevronRight, History, MessageSquare, MousePointer2, Wrench, type LucideIcon } from 'lucide-react'
import { useCallback, useState } from 'react'
import type { Checkpoint, ScreenData } from '@outlast/sdk'
import { useFileNews, type useThread } from '@outlast/sdk/react'
import { NowBadge } from '@/components/now-badge'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Since } from '@/components/time'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { Changes } from '@/features/workspace-files/file-changes'
import { RestoreCheckpoint } from '@/features/workspace-files/restore-checkpoint'
import { answersOf, type Answered } from './answers'
import { MoreButton } from '@/components/more-button'

const PAGE = 50
const ICONS: Partial<Record<Checkpoint['reason'], LucideIcon>> = {
  message: MessageSquare,
  person: MousePointer2,
  tool: Wrench,
}
const REASONS: Record<Checkpoint['reason'], string> = {
  template: 'Initial version',
  tool: 'During an answer',
  message: 'After an answer',
  sleep: 'Before the sandbox paused',
  fork: 'Copied from another screen',
  restore: 'Restored',
  person: 'Edited by hand',
}

/** The last checkpoint of a run belongs to its answer, regardless of its own reason. */
const isOfAnswer = ({ reason, message_id }: Checkpoint): boolean => reason === 'message' || message_id !== null

export function reasonOf(checkpoint: Checkpoint, answers: readonly Answered[]): string {
  const answer = answers.find(({ runId }) => runId === checkpoint.run_id)
  if (isOfAnswer(checkpoint)) return answer?.words ?? REASONS.message
  return REASONS[checkpoint.reason]
}

/** Checkpoints that are useful to restore; `all`: also those in between. One that equals the next is left out. */
export function shownCheckpoints(items: readonly Checkpoint[], all: boolean): Checkpoint[] {
  const wanted = items.filter(
    (one, at) => all || at === 0 || isOfAnswer(one) || (one.reason !== 'tool' && one.reason !== 'sleep'),
  )
  return wanted.filter((one, at) => at === 0 || one.tree !== wanted[at - 1]?.tree || one.reason === 'restore')
}

interface HistoryViewProps {
  screen: ScreenData
  thread: ReturnType<typeof useThread>
}

const keyOf = (screenId: string) => ['screen-checkpoints', screenId]

/** Earlier versions of the files, newest first: each with its changes and a button to restore it. */
export function HistoryView({ screen, thread }: HistoryViewProps) {
  const [all, setAll] = useState(false)
  const list = useInfiniteQuery({
    queryKey: keyOf(screen.id),
    queryFn: ({ pageParam, signal }) =>
      client.screens.checkpoints(screen.id, { limit: PAGE, signal, ...(pageParam !== null && { before: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
  const { data, error, refetch } = list
  useFileNews(
    screen.workspace_id,
    useCallback(() => void queryClient.invalidateQueries({ queryKey: keyOf(screen.id) }), [screen.id]),
  )
  const items = data?.pages.flatMap((page) => page.items) ?? []
  const shownItems = shownCheckpoints(items, all)
  const answers = answersOf(thread)
  const mayWrite = thread.role !== 'viewer'
  return (
    <div role="tabpanel" aria-label="History" className="min-h-0 flex-1 overflow-y-auto p-2.5">
      <label className="mb-2 flex items-center gap-2 px-1 text-xs text-muted">
        <input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />
        Show intermediate steps
      </label>
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={5} className="h-11" />}
      {data !== undefined && shownItems.length === 0 && (
        <Empty title="Nothing saved yet" icon={<History />} className="py-8">
          Each answer and each manual edit saves a point that you can restore.
        </Empty>
      )}
      <ol aria-label="Saved points" className="space-y-1.5">
        {shownItems.map((checkpoint) => (
          <Point
            key={checkpoint.id}
            checkpoint={checkpoint}
            words={reasonOf(checkpoint, answers)}
            isNow={checkpoint.tree === items[0]?.tree}
            mayRestore={mayWrite}
            screenId={screen.id}
          />
        ))}
      </ol>
      <MoreButton list={list} label="Older" />
    </div>
  )
}

interface PointProps {
  checkpoint: Checkpoint
  words: string
  /** True for the current files. */
  isNow: boolean
  mayRestore: boolean
  screenId: string
}

function Point({ checkpoint, words, isNow, mayRestore, screenId }: PointProps) {
  const [open, setOpen] = useState(false)
  const Icon = (isOfAnswer(checkpoint) ? ICONS.message : ICONS[checkpoint.reason]) ?? History
  return (
    <li data-checkpoint={checkpoint.id} className="rounded-xl border border-line">
      <div className="flex items-center gap-2 pr-2">
        <button
          aria-expanded={open}
          className="flex min-w-0 flex-1 items-center gap-2.5 rounded-xl px-3 py-2 text-left hover:bg-hover"
          onClick={() => setOpen(!open)}
        >
          <Icon className="size-4 shrink-0 text-faint" aria-hidden />
          <span className="min-w-0 flex-1">
            <span className="block truncate">{words}</span>
            <span className="block text-xs text-faint">
              <Since iso={checkpoint.created_at} /> · {plural(checkpoint.files, 'file')}
            </span>
          </span>
          <ChevronRight
            className={cn('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')}
            aria-hidden
          />
        </button>
        {isNow ? <NowBadge /> : mayRestore && <Restore checkpoint={checkpoint} words={words} screenId={screenId} />}
      </div>
      {open && (
        <div className="border-t border-line p-2">
          <Changes checkpoint={checkpoint} />
        </div>
      )}
    </li>
  )
}

function Restore({ checkpoint, words, screenId }: { checkpoint: Checkpoint; words: string; screenId: string }) {
  return (
    <RestoreCheckpoint
      checkpoint={checkpoint}
      label="Restore"
      title="Restore the screen to this point?"
      done="Screen restored"
      onDone={() => void queryClient.invalidateQueries({ queryKey: keyOf(screenId) })}
    >
      All its files return to their state after “{words.length > 60 ? `${words.slice(0, 60)}…` : words}”. The current
      files are saved as a point too, so you can restore them later.
    </RestoreCheckpoint>
  )
}
