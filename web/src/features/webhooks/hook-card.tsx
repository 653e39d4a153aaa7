import { useInfiniteQuery } from '@tanstack/react-query'
import { ChevronDown, MoreHorizontal, Pencil, Power, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Hook, HookCall, NewHook } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { CopyIcon } from '@/components/copy'
import { Menu, MenuItem, MenuLine } from '@/components/menu'
import { MoreButton } from '@/components/more-button'
import { SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { Since } from '@/components/time'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { addressOf, callsQuery, reload } from './webhooks'

interface HookCardProps {
  hook: Hook
  onEdit: () => void
  onSecret: (made: NewHook) => void
}

/** An incoming webhook: its address and agent, its actions, and its last calls. */
export function HookCard({ hook, onEdit, onSecret }: HookCardProps) {
  const [open, setOpen] = useState(false)
  const [asking, setAsking] = useState<'delete' | 'rotate' | null>(null)
  const act = (work: Promise<unknown>) => void work.then(reload, complain)
  return (
    <li data-hook={hook.id} className="rounded-2xl border border-line bg-raised">
      <div className="flex items-start gap-3 px-4 py-3.5 sm:px-5">
        <div className="min-w-0 flex-1">
          <h3 className="flex items-center gap-2.5">
            <span className="truncate font-medium">{hook.title}</span>
            <span className={cn('shrink-0 text-xs font-medium', hook.enabled ? 'text-ok' : 'text-muted')}>
              {hook.enabled ? 'On' : 'Off'}
            </span>
          </h3>
          <p className="mt-0.5 flex items-center gap-1 text-xs text-muted">
            <span className="truncate" title={addressOf(hook)}>
              {addressOf(hook)}
            </span>
            <CopyIcon text={addressOf(hook)} label="Copy address" />
          </p>
          <p className="text-xs text-faint">
            {hook.thread === 'new' ? 'A new thread for each request' : 'One thread for all requests'}, as{' '}
            {hook.created_by_name}
          </p>
        </div>
        <Menu
          align="end"
          trigger={
            <IconButton label={`Actions for ${hook.title}`}>
              <MoreHorizontal />
            </IconButton>
          }
        >
          <MenuItem onSelect={onEdit}>
            <Pencil />
            Edit
          </MenuItem>
          <MenuItem onSelect={() => act(client.hooks.change(hook.id, { enabled: !hook.enabled }))}>
            <Power />
            {hook.enabled ? 'Turn off' : 'Turn on'}
          </MenuItem>
          <MenuItem onSelect={() => setAsking('rotate')}>
            <RefreshCw />
            New secret…
          </MenuItem>
          <MenuLine />
          <MenuItem danger onSelect={() => setAsking('delete')}>
            <Trash2 />
            Delete…
          </MenuItem>
        </Menu>
      </div>
      <Button
        look="ghost"
        className="h-9 w-full justify-start rounded-none border-t border-line px-4 text-[12.5px] last:rounded-b-2xl sm:px-5"
        aria-expanded={open}
        aria-label={`Requests to ${hook.title}`}
        onClick={() => setOpen(!open)}
      >
        <ChevronDown className={cn('transition-transform', !open && '-rotate-90')} />
        Last requests
      </Button>
      {open && <CallList hook={hook} />}
      <Confirm
        open={asking === 'delete'}
        onClose={() => setAsking(null)}
        title={`Delete ${hook.title}?`}
        action="Delete"
        onConfirm={() => act(client.hooks.delete(hook.id))}
      >
        Requests to its address are refused from now on. Its threads stay. This cannot be undone.
      </Confirm>
      <Confirm
        open={asking === 'rotate'}
        onClose={() => setAsking(null)}
        title="Create a new secret?"
        action="Create secret"
        onConfirm={() => act(client.hooks.rotate(hook.id).then(onSecret))}
      >
        The old secret is refused at once.
      </Confirm>
    </li>
  )
}

function CallList({ hook }: { hook: Hook }) {
  const list = useInfiniteQuery(callsQuery(hook.id))
  const calls = list.data?.pages.flatMap(({ items }) => items)
  return (
    <div className="border-t border-line px-4 py-2 sm:px-5">
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {calls === undefined && list.error === null && <SkeletonRows rows={2} className="h-8" />}
      {calls?.length === 0 && <p className="py-4 text-center text-muted">No requests yet.</p>}
      {calls !== undefined && calls.length > 0 && (
        <ul aria-label="Requests" className="divide-y divide-line">
          {calls.map((call) => (
            <CallRow key={call.id} call={call} />
          ))}
        </ul>
      )}
      <MoreButton list={list} size="sm" label="Show older requests" className="mt-2" />
    </div>
  )
}

const CallRow = ({ call }: { call: HookCall }) => (
  <li className="flex items-baseline gap-3 py-2">
    {call.thread_id === null ? (
      <span className="min-w-0 flex-1 text-danger [overflow-wrap:anywhere]">{call.reason ?? 'Refused'}</span>
    ) : (
      <Link href={`/threads/${call.thread_id}`} className="min-w-0 flex-1 truncate hover:underline">
        Started a run
      </Link>
    )}
    <Since iso={call.created_at} className="shrink-0 text-xs text-faint" />
  </li>
)
