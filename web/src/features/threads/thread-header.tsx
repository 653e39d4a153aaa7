import { Activity, Archive, ArchiveRestore, Ellipsis, GitFork, Pencil, ScrollText, Trash2 } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem, MenuLine } from '@/components/menu'
import { Rename } from '@/components/rename'
import { complain, say } from '@/components/toast'
import { useApps } from '@/lib/apps'
import { shownTitle } from '@/lib/format'
import { client } from '@/lib/queries'
import { CreditsChip } from '../account/credits-chip'
import { FilesButton } from '../workspace-files/files-button'
import { PageHeader } from '../shell/shell'
import { FamilyButton } from './family-tree'
import { useFork } from './fork-button'
import { LockChip } from './lock-chip'
import { subjectOf, threadHref } from './subjects'
import { forgetThread, patchThreads } from './threads'
import { useOpenThread } from './thread-context'
import { Watching } from './presence'

export function ThreadHeader({ preview }: { preview: ReactNode }) {
  const { thread, open } = useOpenThread()
  const [renaming, setRenaming] = useState(false)
  return (
    <PageHeader>
      <div className="min-w-0 flex-1">
        {renaming ? (
          <Rename
            title={thread.title}
            onRename={(title) => void client.renameThread(thread.id, title).then(patchThreads, complain)}
            onDone={() => setRenaming(false)}
          />
        ) : (
          <h1
            className="truncate text-[14.5px] font-semibold"
            onDoubleClick={() => open.role !== 'viewer' && setRenaming(true)}
          >
            {shownTitle(thread.title)}
          </h1>
        )}
        {!renaming && <Origin />}
      </div>
      <Watching />
      <FamilyButton thread={thread} />
      <LockChip />
      <FilesButton />
      {preview}
      <CreditsChip />
      <ThreadMenu onRename={() => setRenaming(true)} />
    </PageHeader>
  )
}

/** A link to the thread's subject, or to the thread that it was forked from. */
function Origin() {
  const apps = useApps()
  const { thread, open } = useOpenThread()
  const about = subjectOf(apps, thread)
  if (about === null && thread.parent_thread_id === null) return null
  const Icon = about?.subject.icon ?? GitFork
  const [href, text] =
    about === null
      ? [`/threads/${thread.parent_thread_id}`, `Fork of ${open.lineage[0]?.title ?? 'another thread'}`]
      : [threadHref(apps, thread), `Open the ${about.subject.label.toLowerCase()}`]
  return (
    <Link href={href} className="flex items-center gap-1 text-xs text-faint hover:text-fg">
      <Icon className="size-3 shrink-0" aria-hidden />
      <span className="truncate">{text}</span>
    </Link>
  )
}

function ThreadMenu({ onRename }: { onRename: () => void }) {
  const { thread, open } = useOpenThread()
  const [, navigate] = useLocation()
  const [fork] = useFork()
  const [leaving, setLeaving] = useState(false)
  const archived = thread.status === 'archived'
  const archive = () => {
    const change = archived ? client.unarchive(thread.id) : client.archive(thread.id)
    change.then((changed) => (patchThreads(changed), say(archived ? 'Unarchived' : 'Archived')), complain)
  }
  const remove = () => {
    client.deleteThread(thread.id).then(() => {
      forgetThread(thread.id)
      navigate(`/projects/${thread.project_id}`)
    }, complain)
  }
  const mayChange = open.role === 'owner' || open.role === 'editor'
  return (
    <>
      <Menu
        align="end"
        trigger={
          <IconButton label="Thread menu">
            <Ellipsis />
          </IconButton>
        }
      >
        {mayChange && (
          <>
            {/* After the menu has returned the focus, or the input would lose it at once. */}
            <MenuItem onSelect={() => setTimeout(onRename, 50)}>
              <Pencil />
              Rename
            </MenuItem>
            <MenuItem onSelect={() => fork()}>
              <GitFork />
              Fork thread
            </MenuItem>
            <MenuItem onSelect={() => fork({ summary: true })}>
              <ScrollText />
              Fork with a summary
            </MenuItem>
            <MenuItem onSelect={archive} disabled={!archived && open.activeRun !== null}>
              {archived ? <ArchiveRestore /> : <Archive />}
              {archived ? 'Unarchive' : 'Archive'}
            </MenuItem>
          </>
        )}
        <MenuItem onSelect={() => navigate(`/runs?thread=${thread.id}`)}>
          <Activity />
          Runs of this thread
        </MenuItem>
        {open.role === 'owner' && (
          <>
            <MenuLine />
            <MenuItem danger onSelect={() => setLeaving(true)} disabled={open.activeRun !== null}>
              <Trash2 />
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <Confirm
        open={leaving}
        onClose={() => setLeaving(false)}
        title="Delete this thread?"
        action="Delete"
        onConfirm={remove}
      >
        Its messages, runs and files are deleted for everyone. Archive it instead to keep it searchable.
      </Confirm>
    </>
  )
}
