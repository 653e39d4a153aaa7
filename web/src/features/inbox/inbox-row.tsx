import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { OutlastError, type InboxItem } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Since } from '@/components/time'
import { complain, say } from '@/components/toast'
import { useApps, type InboxAction, type InboxKindView, type InboxPlace } from '@/lib/apps'
import { cn } from '@/lib/cn'
import { shownTitle } from '@/lib/format'
import { useActiveProject, useProjects } from '../shell/active-project'
import { useInbox } from './inbox-context'
import { kindOf, placeOf } from './inbox-kinds'

const TONE: Record<InboxKindView['tone'], string> = {
  action: 'bg-warn-soft text-warn',
  news: 'bg-accent-soft text-link',
}

/** One inbox item: its subject, place, time and actions. */
export function InboxRow({ item }: { item: InboxItem }) {
  const { projectId } = useActiveProject()
  const project = useProjects().find(({ id }) => id === item.project_id)
  const apps = useApps()
  const kind = kindOf(apps, item)
  const place = placeOf(apps, item)
  const opened = useOpened(item, kind)
  return (
    <li
      data-inbox-item={item.kind}
      className="flex gap-3 rounded-xl border border-line bg-raised p-3.5 transition-colors hover:border-line-strong"
    >
      <span
        aria-hidden
        className={cn('grid size-8 shrink-0 place-items-center rounded-lg [&_svg]:size-4', TONE[kind.tone])}
      >
        <kind.icon />
      </span>
      <div className="min-w-0 flex-1">
        <Link href={place.href} onClick={opened} className="block rounded-md">
          <span className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 font-medium">{kind.title(item)}</span>
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
            <place.icon className="size-3 shrink-0" aria-hidden />
            <span className="truncate">{shownTitle(place.title)}</span>
            {item.project_id !== projectId && project !== undefined && (
              <span className="shrink-0">· {project.name}</span>
            )}
          </span>
        </Link>
        <div className="mt-2.5 flex flex-wrap gap-2">
          <Actions item={item} kind={kind} place={place} />
        </div>
      </div>
    </li>
  )
}

/** Marks an item as read when a person opens it. */
function useOpened(item: InboxItem, kind: InboxKindView): () => void {
  const { refresh } = useInbox()
  return () => void kind.read?.(item).then(refresh, () => undefined)
}

interface ActionsProps {
  item: InboxItem
  kind: InboxKindView
  place: InboxPlace
}

function Actions({ item, kind, place }: ActionsProps) {
  const { refresh } = useInbox()
  const [, navigate] = useLocation()
  const [busy, setBusy] = useState<string | null>(null)
  const opened = useOpened(item, kind)
  const run = ({ label, run, done }: InboxAction) => {
    if (run === undefined) {
      opened()
      return navigate(place.href)
    }
    setBusy(label)
    run(item, place)
      .then(() => {
        if (done !== undefined) say(done(item))
        refresh()
      }, refused)
      .finally(() => setBusy(null))
  }
  /** A changed tool is approved where its call is shown. */
  const refused = (error: Error) => {
    complain(error)
    if (error instanceof OutlastError && error.code === 'tool_changed') navigate(place.href)
  }
  return kind.actions.map((action) => (
    <Button
      key={action.label}
      size="sm"
      look={action.isPrimary === true ? 'primary' : 'plain'}
      className="pointer-coarse:h-10 pointer-coarse:px-4"
      busy={busy === action.label}
      disabled={busy !== null && action.run !== undefined}
      onClick={() => run(action)}
    >
      {action.label}
    </Button>
  ))
}
