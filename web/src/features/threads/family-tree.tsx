import { queryOptions, useQuery } from '@tanstack/react-query'
import { GitFork } from 'lucide-react'
import { useCallback, useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { FamilyThread, OutlastEvent, Thread } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { IconButton } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { StatusDot } from '@/components/status-dot'
import { Since } from '@/components/time'
import { useApps } from '@/lib/apps'
import { cn } from '@/lib/cn'
import { plural, shownTitle } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { useFreshOnceLive } from '../shell/active-project'
import { branchesOf, type Branch } from './family'
import { relatedHref } from './subjects'

const familyQuery = (threadId: string) =>
  queryOptions({
    queryKey: ['thread-family', threadId],
    queryFn: async ({ signal }) => (await client.documents.family(threadId, signal)).items,
  })

/** The thread, its ancestors and all their forks, updated by the project's stream. */
function useFamily(threadId: string): readonly FamilyThread[] {
  const { data } = useQuery(familyQuery(threadId))
  useFreshOnceLive(familyQuery(threadId).queryKey)
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        const known = queryClient.getQueryData(familyQuery(threadId).queryKey)
        if (known === undefined) return
        const names = (id: string | null) => known.some((one) => one.id === id)
        if (event.event === 'thread.updated') {
          const { thread } = event.data
          if (names(thread.id))
            queryClient.setQueryData(familyQuery(threadId).queryKey, (all) =>
              all?.map((one) => (one.id === thread.id ? withNews(one, thread) : one)),
            )
          else if (names(thread.parent_thread_id)) void queryClient.invalidateQueries(familyQuery(threadId))
        } else if (event.event === 'thread.deleted' && names(event.data.thread_id))
          void queryClient.invalidateQueries(familyQuery(threadId))
      },
      [threadId],
    ),
  )
  return data ?? NO_THREADS
}

const NO_THREADS: readonly FamilyThread[] = []

const withNews = (one: FamilyThread, { title, status, run_status, message_count }: Thread): FamilyThread => ({
  ...one,
  title,
  status,
  run_status,
  message_count,
})

/** Shows the origin and the forks of a thread; nothing if it has neither. */
export function FamilyButton({ thread }: { thread: Thread }) {
  const family = useFamily(thread.id)
  const [open, setOpen] = useState(false)
  if (family.length < 2) return null
  const forks = family.length - 1
  return (
    <>
      <IconButton label={`Forks: ${plural(forks, 'other thread')}`} data-family onClick={() => setOpen(true)}>
        <GitFork />
      </IconButton>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title="Forks"
        description="Threads that this one was forked from, and forks of it. Each has its own driver."
      >
        <FamilyTree thread={thread} family={family} onGo={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

interface FamilyTreeProps {
  thread: Thread
  family: readonly FamilyThread[]
  onGo: () => void
}

function FamilyTree({ thread, family, onGo }: FamilyTreeProps) {
  const branches = useMemo(() => branchesOf(family), [family])
  const apps = useApps()
  return (
    <ul role="tree" aria-label="Forks" data-family-tree className="-mx-1.5">
      {branches.map((branch) => (
        <Row
          key={branch.thread.id}
          branch={branch}
          here={branch.thread.id === thread.id}
          href={relatedHref(apps, thread, branch.thread.id)}
          onGo={onGo}
        />
      ))}
    </ul>
  )
}

const LINE = 'absolute left-[11px] border-l border-line-strong'

interface RowProps {
  branch: Branch
  here: boolean
  href: string
  onGo: () => void
}

function Row({ branch: { thread, depth, lines, last }, here, href, onGo }: RowProps) {
  return (
    <li role="treeitem" aria-level={depth + 1} aria-selected={here} data-branch={thread.id} className="flex">
      {/* Each line comes down from the dot of the parent thread. */}
      {lines.slice(1).map((goesOn, at) => (
        <span key={at} aria-hidden className="relative w-5 shrink-0">
          {goesOn && <span className={cn(LINE, '-top-1 bottom-0')} />}
        </span>
      ))}
      {depth > 0 && (
        <span aria-hidden className="relative w-5 shrink-0">
          <span className="absolute -top-4 left-[11px] h-10 w-3.5 rounded-bl-lg border-b border-l border-line-strong" />
          {!last && <span className={cn(LINE, '-top-1 bottom-0')} />}
        </span>
      )}
      <Link
        href={href}
        ref={(row: HTMLAnchorElement | null) => (here ? row?.focus({ preventScroll: true }) : undefined)}
        onClick={onGo}
        aria-current={here ? 'page' : undefined}
        className={cn(
          'relative my-0.5 flex min-w-0 flex-1 items-center gap-2.5 rounded-lg px-2 py-1.5 pointer-coarse:py-2.5 hover:bg-hover',
          here && 'bg-accent-soft hover:bg-accent-soft',
        )}
      >
        <span
          aria-hidden
          className={cn('size-2 shrink-0 rounded-full', here ? 'bg-accent' : 'border-[1.5px] border-line-strong')}
        />
        <span className="min-w-0 flex-1">
          <span className={cn('block truncate', here && 'font-medium text-link')}>{shownTitle(thread.title)}</span>
          <span className="block truncate text-xs text-faint">
            {here ? 'You are here · ' : ''}
            {thread.created_by_name ?? 'Former member'} · {plural(thread.message_count, 'message')} ·{' '}
            <Since iso={thread.created_at} />
            {thread.status === 'archived' && ' · archived'}
          </span>
        </span>
        <StatusDot status={thread.run_status} />
      </Link>
    </li>
  )
}
