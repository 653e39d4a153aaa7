import { useInfiniteQuery } from '@tanstack/react-query'
import { Archive, MessagesSquare, SearchX } from 'lucide-react'
import { Fragment, useDeferredValue } from 'react'
import { useRoute } from 'wouter'
import type { ListedThread } from '@outlast/sdk'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { useKeyBindings } from '@/lib/key-bindings'
import { useMinutes } from '@/lib/time'
import { useFreshOnceLive } from '../shell/active-project'
import { threadsQuery } from './threads'
import { ThreadRow } from './thread-row'
import { MoreButton } from '@/components/more-button'

interface ThreadListProps {
  projectId: string
  q: string
  archived: boolean
  onArchived: (archived: boolean) => void
}

export function ThreadList({ projectId, q, archived, onArchived }: ThreadListProps) {
  const wanted = useDeferredValue(q.trim())
  const query = threadsQuery({ projectId, status: archived ? 'archived' : 'open', q: wanted })
  useFreshOnceLive(query.queryKey)
  const list = useInfiniteQuery({
    ...query,
    placeholderData: (before, last) => (last?.queryKey[1].projectId === projectId ? before : undefined),
  })
  useKeyBindings({ j: () => step(1), k: () => step(-1) })
  const threads = sortThreads(list.data?.pages.flatMap(({ items }) => items) ?? [])
  return (
    <>
      {wanted === '' ? (
        <div role="group" aria-label="Filter threads" className="flex gap-1 px-2.5 pt-2 text-xs">
          <Filter on={!archived} onClick={() => onArchived(false)}>
            Open
          </Filter>
          <Filter on={archived} onClick={() => onArchived(true)}>
            Archived
          </Filter>
        </div>
      ) : null}
      <nav aria-label="Threads" className="min-h-0 flex-1 overflow-y-auto px-2.5 pt-1.5 pb-4">
        {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
        {list.isPending && <SkeletonRows rows={7} className="h-8" />}
        {list.isSuccess && threads.length === 0 && <Nothing q={wanted} archived={archived} />}
        <Groups threads={threads} q={wanted} />
        <MoreButton look="ghost" size="sm" className="mt-1 w-full" list={list} />
      </nav>
    </>
  )
}

const sortThreads = (threads: ListedThread[]) =>
  threads.toSorted((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at))

const DAY_MS = 86_400_000

/** The heading of the group that contains a time. */
function dayGroup(iso: string, nowMs: number): string {
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0)
  const at = Date.parse(iso)
  if (at >= midnight) return 'Today'
  if (at >= midnight - DAY_MS) return 'Yesterday'
  if (at >= midnight - 7 * DAY_MS) return 'Last 7 days'
  return 'Older'
}

function Groups({ threads, q }: { threads: ListedThread[]; q: string }) {
  const now = useMinutes()
  const [, params] = useRoute('/threads/:id')
  let last = ''
  return threads.map((thread) => {
    const group = q !== '' ? '' : dayGroup(thread.updated_at, now)
    const heading = group !== last
    last = group
    return (
      <Fragment key={thread.id}>
        {heading && group !== '' && <h2 className="px-2 pt-3 pb-1 text-[11.5px] font-medium text-faint">{group}</h2>}
        <ThreadRow thread={thread} current={params?.id === thread.id} q={q} />
      </Fragment>
    )
  })
}

function Filter({ on, onClick, children }: { on: boolean; onClick: () => void; children: string }) {
  return (
    <button
      aria-pressed={on}
      className={cn('rounded-full px-2.5 py-0.5', on ? 'bg-active font-medium' : 'text-muted hover:text-fg')}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

function Nothing({ q, archived }: { q: string; archived: boolean }) {
  if (q !== '')
    return (
      <Empty className="px-2 py-8" icon={<SearchX />} title="No results">
        No thread or message matches “{q}”.
      </Empty>
    )
  if (archived)
    return (
      <Empty className="px-2 py-8" icon={<Archive />} title="No archived threads">
        Archived threads appear here. You can still search them.
      </Empty>
    )
  return (
    <Empty className="px-2 py-8" icon={<MessagesSquare />} title="No threads yet">
      Write a message to start the first one.
    </Empty>
  )
}

/** Moves the keyboard focus through the list, starting at the open thread. */
function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-thread-link]')].filter(
    (link) => link.offsetParent !== null,
  )
  const focused = links.indexOf(document.activeElement as HTMLElement)
  const open = links.findIndex((link) => link.ariaCurrent === 'page')
  const from = focused === -1 ? open : focused
  links[Math.min(links.length - 1, Math.max(0, from + by))]?.focus()
}
