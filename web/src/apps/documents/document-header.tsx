import {
  ArrowLeft,
  ClipboardCopy,
  Download,
  Ellipsis,
  FileUp,
  History,
  ListTree,
  PanelRight,
  Pencil,
  Trash2,
} from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { DocumentData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem, MenuLine } from '@/components/menu'
import { Rename } from '@/components/rename'
import { complain, say } from '@/components/toast'
import { client } from '@/lib/queries'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { useDocumentRoom, usePanel } from './document-context'
import { dropDocument } from './documents'
import { ImportInto } from './import-into'
import { PeopleInDocument } from './presence'
import { SavedState } from './saved-state'

interface DocumentHeaderProps {
  document: DocumentData
  narrow: boolean
  /** The outline opens as a sheet, because it does not fit next to the text. */
  sheet: boolean
  onOutline: () => void
}

export function DocumentHeader({ document, narrow, sheet, onOutline }: DocumentHeaderProps) {
  const { openPanel, mayEdit } = useDocumentRoom()
  const { tab } = usePanel()
  const [renaming, setRenaming] = useState(false)
  return (
    <PageHeader>
      <Link
        href={`/projects/${document.project_id}/documents`}
        aria-label="All documents"
        title="All documents"
        className="grid size-8 shrink-0 place-items-center rounded-lg text-muted hover:bg-hover hover:text-fg"
      >
        <ArrowLeft className="size-4" />
      </Link>
      {sheet && (
        <IconButton label="Outline" onClick={onOutline}>
          <ListTree />
        </IconButton>
      )}
      <div className="flex min-w-0 flex-1 items-center gap-3">
        {renaming ? (
          <Rename
            title={document.title}
            label="Title of the document"
            onRename={(title) => void client.documents.rename(document.id, title).catch(complain)}
            onDone={() => setRenaming(false)}
          />
        ) : (
          <h1
            className="truncate text-[14.5px] font-semibold"
            title={document.title}
            onDoubleClick={() => mayEdit && setRenaming(true)}
          >
            {document.title}
          </h1>
        )}
        <SavedState />
      </div>
      <PeopleInDocument />
      <DocumentMenu document={document} onRename={() => setRenaming(true)} />
      {!narrow && tab === null && (
        <IconButton label="Show comments, agent and review" onClick={() => openPanel('comments')}>
          <PanelRight />
        </IconButton>
      )}
    </PageHeader>
  )
}

function DocumentMenu({ document, onRename }: { document: DocumentData; onRename: () => void }) {
  const { mayEdit, openPanel } = useDocumentRoom()
  const { project } = useActiveProject()
  const [, navigate] = useLocation()
  const [deleting, setDeleting] = useState(false)
  const [importing, setImporting] = useState(false)
  const copy = () => {
    client.documents
      .markdown(document.id)
      .then((text) => navigator.clipboard.writeText(text))
      .then(() => say('Copied as Markdown.'), complain)
  }
  const remove = () => {
    client.documents.delete(document.id).then(() => {
      dropDocument(document.project_id, document.id)
      navigate(`/projects/${document.project_id}/documents`)
    }, complain)
  }
  return (
    <>
      <Menu
        align="end"
        trigger={
          <IconButton label="Document menu">
            <Ellipsis />
          </IconButton>
        }
      >
        {mayEdit && (
          // After the menu has returned the focus, or the input would lose it at once.
          <MenuItem onSelect={() => setTimeout(onRename, 50)}>
            <Pencil />
            Rename
          </MenuItem>
        )}
        <MenuItem onSelect={() => download(document.id)}>
          <Download />
          Download Markdown
        </MenuItem>
        <MenuItem onSelect={copy}>
          <ClipboardCopy />
          Copy as Markdown
        </MenuItem>
        {mayEdit && (
          <MenuItem onSelect={() => setTimeout(() => setImporting(true), 50)}>
            <FileUp />
            Import Markdown
          </MenuItem>
        )}
        <MenuItem onSelect={() => openPanel('history')}>
          <History />
          History
        </MenuItem>
        {project?.role === 'owner' && (
          <>
            <MenuLine />
            <MenuItem danger onSelect={() => setDeleting(true)}>
              <Trash2 />
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      <ImportInto open={importing} onClose={() => setImporting(false)} />
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this document?"
        action="Delete"
        onConfirm={remove}
      >
        Its text, history, comments and conversations are deleted for everyone.
      </Confirm>
    </>
  )
}

function download(documentId: string): void {
  const link = window.document.createElement('a')
  link.href = client.documents.markdownUrl(documentId)
  link.download = ''
  link.click()
}
