import {
  ArrowLeft,
  Copy,
  Ellipsis,
  ExternalLink,
  MessageSquare,
  PanelRight,
  Pencil,
  Share2,
  Trash2,
  Undo2,
} from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { PageData } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem, MenuLine } from '@/components/menu'
import { Rename } from '@/components/rename'
import { complain, say } from '@/components/toast'
import { MOD } from '@/lib/key-bindings'
import { client } from '@/lib/queries'
import { CreditsChip } from '@/features/account/credits-chip'
import { PageHeader } from '@/features/shell/shell'
import { useOpenThread } from '@/features/threads/thread-context'
import { PageBadge } from './page-badge'
import type { PanelTab } from './page-panel'
import type { Undo } from './page-view'
import { dropPage, putPage } from './pages'
import { ShareDialog } from './share-dialog'

interface ViewHeaderProps {
  page: PageData
  mayEdit: boolean
  panel: PanelTab | null
  onPanel: (tab: PanelTab | null) => void
  undo: Undo
  narrow: boolean
}

export function ViewHeader({ page, mayEdit, panel, onPanel, undo, narrow }: ViewHeaderProps) {
  const [renaming, setRenaming] = useState(false)
  const [sharing, setSharing] = useState(false)
  return (
    <PageHeader>
      <Link
        href={`/projects/${page.project_id}/pages`}
        aria-label="All pages"
        title="All pages"
        className="grid size-8 shrink-0 place-items-center rounded-lg text-muted hover:bg-hover hover:text-fg"
      >
        <ArrowLeft className="size-4" />
      </Link>
      <div className="flex min-w-0 flex-1 items-center gap-2.5">
        {renaming ? (
          <Rename
            title={page.title}
            onRename={(title) => void client.pages.rename(page.id, title).then(putPage, complain)}
            onDone={() => setRenaming(false)}
          />
        ) : (
          <h1
            className="truncate text-[14.5px] font-semibold"
            title={page.title}
            onDoubleClick={() => mayEdit && setRenaming(true)}
          >
            {page.title}
          </h1>
        )}
        <PageBadge state={page.state} />
      </div>
      <IconButton
        label={undo.why ?? 'Undo last changes'}
        {...(undo.why === null && { keys: `${MOD} Z` })}
        aria-disabled={undo.why !== null || undefined}
        className={undo.why === null ? '' : 'opacity-45'}
        busy={undo.busy}
        onClick={undo.run}
      >
        {!undo.busy && <Undo2 />}
      </IconButton>
      {mayEdit && !narrow && (
        <Button size="sm" onClick={() => setSharing(true)}>
          <Share2 />
          Share
        </Button>
      )}
      {!narrow && <CreditsChip />}
      <PageMenu page={page} mayEdit={mayEdit} onRename={() => setRenaming(true)} onShare={() => setSharing(true)} />
      {!narrow && panel === null && (
        <IconButton label="Show activity, history and code" onClick={() => onPanel('activity')}>
          <PanelRight />
        </IconButton>
      )}
      <ShareDialog page={page} open={sharing} onClose={() => setSharing(false)} />
    </PageHeader>
  )
}

interface PageMenuProps {
  page: PageData
  mayEdit: boolean
  onRename: () => void
  onShare: () => void
}

function PageMenu({ page, mayEdit, onRename, onShare }: PageMenuProps) {
  const { open } = useOpenThread()
  const [, navigate] = useLocation()
  const [leaving, setLeaving] = useState(false)
  const duplicate = () => {
    client.pages.duplicate(page.id).then((copy) => {
      putPage(copy)
      say('Duplicated. This is the copy.')
      navigate(`/pages/${copy.id}`)
    }, complain)
  }
  const remove = () => {
    client.pages.delete(page.id).then(() => {
      dropPage(page.project_id, page.id)
      navigate(`/projects/${page.project_id}/pages`)
    }, complain)
  }
  return (
    <>
      <Menu
        align="end"
        trigger={
          <IconButton label="Page menu">
            <Ellipsis />
          </IconButton>
        }
      >
        {mayEdit && (
          <>
            {/* After the menu has returned the focus, or the input would lose it at once. */}
            <MenuItem onSelect={() => setTimeout(onRename, 50)}>
              <Pencil />
              Rename
            </MenuItem>
            <MenuItem onSelect={() => setTimeout(onShare, 50)}>
              <Share2 />
              Share
            </MenuItem>
            <MenuItem onSelect={duplicate}>
              <Copy />
              Duplicate
            </MenuItem>
          </>
        )}
        <MenuItem onSelect={() => navigate(`/threads/${page.thread_id}`)}>
          <MessageSquare />
          Open conversation
        </MenuItem>
        <MenuItem onSelect={() => navigate(`/runs?thread=${page.thread_id}`)}>
          <ExternalLink />
          View runs
        </MenuItem>
        {open.role === 'owner' && (
          <>
            <MenuLine />
            <MenuItem danger onSelect={() => setLeaving(true)}>
              <Trash2 />
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <Confirm
        open={leaving}
        onClose={() => setLeaving(false)}
        title="Delete this page?"
        action="Delete"
        onConfirm={remove}
      >
        Its history, conversation, files and links are deleted for everyone.
      </Confirm>
    </>
  )
}
