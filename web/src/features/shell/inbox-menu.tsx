import { useQuery } from '@tanstack/react-query'
import { AtSign, CircleHelp, FilePenLine, Hand, Inbox, ShieldQuestion, UserCheck } from 'lucide-react'
import { useCallback, useRef, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { InboxItem, OutlastEvent } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { Ago } from '@/components/time'
import { client, queryClient } from '@/lib/queries'

const ICON: Record<InboxItem['kind'], ReactNode> = {
  approval: <ShieldQuestion />,
  question: <CircleHelp />,
  handover: <Hand />,
  proposal: <FilePenLine />,
  mention: <AtSign />,
  assigned: <UserCheck />,
}

/** Everything in the project that waits for a person; absent when nothing does. */
export function InboxMenu({ projectId, className }: { projectId: string; className: string }) {
  const [, navigate] = useLocation()
  const { data } = useQuery({ queryKey: ['inbox', projectId], queryFn: () => client.inbox(projectId) })
  useInboxNews()
  const items = data?.items ?? []
  if (items.length === 0) return null
  return (
    <Menu
      className="w-80 max-w-[92vw]"
      trigger={
        <button className={className}>
          <Inbox />
          <span className="flex-1 text-left">Waiting for you</span>
          <span className="grid h-4.5 min-w-4.5 place-items-center rounded-full bg-amber px-1 text-[11px] font-semibold text-black tabular-nums">
            {items.length}
          </span>
        </button>
      }
    >
      <MenuLabel>Approvals, questions and requests</MenuLabel>
      {items.map((item) => (
        <MenuItem key={item.id} onSelect={() => navigate(`/threads/${item.thread_id}`)}>
          {ICON[item.kind]}
          <span className="min-w-0 flex-1">
            <span className="block truncate">{item.thread_title === '' ? 'Untitled' : item.thread_title}</span>
            <span className="block truncate text-xs text-faint">{item.text}</span>
          </span>
          <Ago iso={item.created_at} className="text-xs text-faint" />
        </MenuItem>
      ))}
    </Menu>
  )
}

const NEWS = new Set(['thread.updated', 'lock.requested', 'lock.handed_over', 'lock.released', 'lock.taken_over'])

function useInboxNews(): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEvents(
    useCallback(({ event }: OutlastEvent) => {
      if (!NEWS.has(event)) return
      clearTimeout(timer.current)
      timer.current = setTimeout(() => void queryClient.invalidateQueries({ queryKey: ['inbox'] }), 250)
    }, []),
  )
}
