import { GitFork, Lock as LockIcon } from 'lucide-react'
import { Link } from 'wouter'
import type { ListedThread, Lock, Thread } from '@outlast/sdk'
import { StatusDot } from '@/components/status-dot'
import { Ago } from '@/components/time'
import { useApps } from '@/lib/apps'
import { cn } from '@/lib/cn'
import { shownTitle } from '@/lib/format'
import { useReached } from '@/lib/time'
import { useMe } from '../session/session-gate'
import { subjectOf, threadHref } from './subjects'

export function ThreadRow({ thread, current, q }: { thread: ListedThread; current: boolean; q: string }) {
  const apps = useApps()
  const quiet = thread.run_status === 'idle' || thread.run_status === 'complete'
  return (
    <Link
      href={threadHref(apps, thread)}
      data-thread-link
      aria-current={current ? 'page' : undefined}
      className={cn(
        'block rounded-lg px-2 py-1.5 pointer-coarse:py-2.5 hover:bg-hover focus-visible:bg-hover',
        current && 'bg-active',
      )}
    >
      <span className="flex items-center gap-2">
        <SubjectIcon thread={thread} />
        {thread.parent_thread_id !== null && <GitFork aria-label="Fork" className="size-3.5 shrink-0 text-faint" />}
        <span className={cn('min-w-0 flex-1 truncate', thread.title === '' && 'text-muted')}>
          {shownTitle(thread.title)}
        </span>
        <LockMark lock={thread.lock} />
        {quiet ? (
          <Ago iso={thread.updated_at} className="text-xs text-faint" />
        ) : (
          <StatusDot status={thread.run_status} />
        )}
      </span>
      {thread.match !== null && thread.match.snippet !== '' && (
        <span className="mt-0.5 line-clamp-2 text-xs text-muted">
          <Snippet text={thread.match.snippet} q={q} />
        </span>
      )}
    </Link>
  )
}

function SubjectIcon({ thread }: { thread: Thread }) {
  const about = subjectOf(useApps(), thread)
  if (about === null) return null
  const { icon: Icon, label } = about.subject
  return <Icon aria-label={label} className="size-3.5 shrink-0 text-faint" />
}

function LockMark({ lock }: { lock: Lock | null }) {
  const me = useMe()
  const expired = useReached(lock?.expires_at ?? null)
  if (lock === null || lock.holder_id === me.user.id || expired) return null
  return <LockIcon role="img" aria-label={`Locked by ${lock.holder_name}`} className="size-3 shrink-0 text-faint" />
}

/** The excerpt of a hit, with the words that match the search marked. */
function Snippet({ text, q }: { text: string; q: string }) {
  const wanted = q.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  const pieces = text.split(/([\p{L}\p{N}_]+)/u)
  return pieces.map((piece, index) => {
    const hit = index % 2 === 1 && wanted.some((word) => piece.toLowerCase().startsWith(word))
    return hit ? (
      <mark key={index} className="rounded-xs bg-amber/25 text-fg">
        {piece}
      </mark>
    ) : (
      piece
    )
  })
}
