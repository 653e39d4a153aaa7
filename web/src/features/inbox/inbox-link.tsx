import { Inbox } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { useInbox } from './inbox-context'

/** The link to the inbox, with the number of items. */
export function InboxLink({ className }: { className: string }) {
  const [path] = useLocation()
  const { items, hasMore } = useInbox()
  const count = `${items.length}${hasMore ? '+' : ''}`
  return (
    <Link href="/inbox" className={cn(className, path === '/inbox' && 'bg-active text-fg')}>
      <Inbox />
      <span className="flex-1">Inbox</span>
      {items.length > 0 && (
        <span
          role="img"
          aria-label={
            hasMore
              ? `More than ${items.length} items waiting for you`
              : `${plural(items.length, 'item')} waiting for you`
          }
          data-inbox-count={items.length}
          className="grid h-4.5 min-w-4.5 place-items-center rounded-full bg-amber px-1 text-[11px] font-semibold text-black tabular-nums"
        >
          {items.length > 99 ? '99+' : count}
        </span>
      )}
    </Link>
  )
}

/** On the button that opens the sidebar: the inbox contains something. */
export function InboxDot() {
  const { items } = useInbox()
  if (items.length === 0) return null
  return (
    <span
      aria-hidden
      data-inbox-dot
      className="pointer-events-none absolute top-1 right-1 size-2 rounded-full bg-amber ring-2 ring-bg"
    />
  )
}
