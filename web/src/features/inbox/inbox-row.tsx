import {
  AtSign,
  CircleHelp,
  FileText,
  GitPullRequestArrow,
  Hand,
  MessageSquare,
  ShieldQuestion,
  UserRoundCheck,
  type LucideIcon,
} from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import type { InboxItem, InboxKind } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Since } from '@/components/time'
import { complain, say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { useActiveProject, useProjects } from '../shell/active-project'
import { useInbox } from './inbox-context'
import { hrefOf, isRead, placeOf, titleOf } from './waiting'

const ICONS: Record<InboxKind, [LucideIcon, look: string]> = {
  approval: [ShieldQuestion, 'bg-warn-soft text-warn'],
  question: [CircleHelp, 'bg-warn-soft text-warn'],
  proposal: [GitPullRequestArrow, 'bg-accent-soft text-link'],
  handover: [Hand, 'bg-warn-soft text-warn'],
  mention: [AtSign, 'bg-accent-soft text-link'],
  assigned: [UserRoundCheck, 'bg-accent-soft text-link'],
}

/** One thing that waits: what, where, since when, and what can be done about it. */
export function InboxRow({ item }: { item: InboxItem }) {
  const { projectId } = useActiveProject()
  const project = useProjects().find(({ id }) => id === item.project_id)
  const [Icon, look] = ICONS[item.kind]
  const About = item.document_id === null ? MessageSquare : FileText
  const read = useReading(item)
  return (
    <li
      data-inbox-item={item.kind}
      className="flex gap-3 rounded-xl border border-line bg-raised p-3.5 transition-colors hover:border-line-strong"
    >
      <span aria-hidden className={cn('grid size-8 shrink-0 place-items-center rounded-lg [&_svg]:size-4', look)}>
        <Icon />
      </span>
      <div className="min-w-0 flex-1">
        <Link href={hrefOf(item)} onClick={read} className="block rounded-md">
          <span className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 font-medium">{titleOf(item)}</span>
            <Since iso={item.created_at} className="shrink-0 text-xs text-faint" />
          </span>
          {item.text !== '' && (
            <span
              className={cn(
                'mt-0.5 line-clamp-3 text-muted [overflow-wrap:anywhere]',
                item.kind === 'approval' && 'mt-1.5 rounded-lg bg-code px-2.5 py-1.5 font-mono text-[12.5px]',
              )}
            >
              {item.text}
            </span>
          )}
          <span className="mt-1.5 flex items-center gap-1.5 text-xs text-faint">
            <About className="size-3 shrink-0" aria-hidden />
            <span className="truncate">{placeOf(item)}</span>
            {item.project_id !== projectId && project !== undefined && (
              <span className="shrink-0">· {project.name}</span>
            )}
          </span>
        </Link>
        <div className="mt-2.5 flex flex-wrap gap-2">
          <Actions item={item} />
        </div>
      </div>
    </li>
  )
}

/** Looked at is read. */
function useReading({ kind, id }: InboxItem): () => void {
  const { refresh } = useInbox()
  return () => {
    if (isRead(kind)) client.documents.readMention(id).then(refresh, () => undefined)
  }
}

function Actions({ item }: { item: InboxItem }) {
  const { refresh } = useInbox()
  const [, navigate] = useLocation()
  const [busy, setBusy] = useState<string | null>(null)
  const reading = useReading(item)
  const run = (what: string, action: () => Promise<unknown>, done?: string) => {
    setBusy(what)
    action()
      .then(() => {
        if (done !== undefined) say(done)
        refresh()
      }, complain)
      .finally(() => setBusy(null))
  }
  const act = (label: string, look: 'plain' | 'primary', action: () => Promise<unknown>, done?: string): ReactNode => (
    <Button
      size="sm"
      look={look}
      className="pointer-coarse:h-10 pointer-coarse:px-4"
      busy={busy === label}
      disabled={busy !== null}
      onClick={() => run(label, action, done)}
    >
      {label}
    </Button>
  )
  const go = (label: string, look: 'plain' | 'primary') => (
    <Button
      size="sm"
      look={look}
      className="pointer-coarse:h-10 pointer-coarse:px-4"
      onClick={() => (reading(), navigate(hrefOf(item)))}
    >
      {label}
    </Button>
  )
  switch (item.kind) {
    case 'approval':
      return (
        <>
          {act('Approve', 'primary', () => client.decide(item.id, { decision: 'approve' }))}
          {act('Deny', 'plain', () => client.decide(item.id, { decision: 'deny' }))}
          {go('Open', 'plain')}
        </>
      )
    case 'question':
      return go('Answer', 'primary')
    case 'proposal':
      return go('Review', 'primary')
    case 'handover':
      return (
        <>
          {act('Hand over', 'primary', () => handOver(item), `${item.by_name ?? 'They'} may go on now.`)}
          {go('Open', 'plain')}
        </>
      )
    case 'mention':
    case 'assigned':
      return (
        <>
          {go('Open', 'plain')}
          {act('Mark read', 'plain', () => client.documents.readMention(item.id))}
        </>
      )
  }
}

/** The lock of a section or of a thread, to whoever asked for it. */
function handOver({ section_id, thread_id, by }: InboxItem): Promise<unknown> {
  if (by === null) return Promise.reject(new Error('Whoever asked is gone.'))
  if (section_id !== null) return client.documents.handOverSection(section_id, by)
  return thread_id === null ? Promise.reject(new Error('The thread is gone.')) : client.handOverLock(thread_id, by)
}
