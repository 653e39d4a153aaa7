import { useQuery } from '@tanstack/react-query'
import { FileText, FileUp, GitPullRequestArrow, MessageSquareText, Plus } from 'lucide-react'
import { useEffect, useState, type DragEvent } from 'react'
import { Link } from 'wouter'
import type { DocumentData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, Skeleton } from '@/components/placeholders'
import { Since } from '@/components/time'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { plural, UNTITLED } from '@/lib/format'
import { useKeyBindings } from '@/lib/key-bindings'
import { CreditsChip } from '@/features/account/credits-chip'
import { PeopleHere } from '@/features/shell/people-here'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { documentsQuery, useDocumentNews } from './documents'
import { FirstDocument, ImportDialog, useCreating } from './new-document'
import { readMarkdown } from './markdown-files'

const NOTHING = { text: '', name: null }

/** `/projects/:id/documents`: the documents of a project, newest first, and the ways to create one. */
export default function DocumentsPage({ projectId }: { projectId: string }) {
  const { projectId: active, project, choose } = useActiveProject()
  const { data: documents, error, refetch } = useQuery(documentsQuery(projectId))
  const { busy, create } = useCreating(projectId)
  const [importing, setImporting] = useState<{ text: string; name: string | null } | null>(null)
  const [over, setOver] = useState(false)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Documents · Outlast'
  }, [])
  useDocumentNews(projectId)
  const mayEdit = active === projectId && project !== null && project.role !== 'viewer'
  const begin = () => void create({ title: UNTITLED }).catch(complain)
  useKeyBindings({ d: () => mayEdit && begin() })
  const shown = documents?.toSorted((one, other) => other.updated_at.localeCompare(one.updated_at))
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const [file] = event.dataTransfer.files
    if (file !== undefined) readMarkdown(file).then((text) => setImporting({ text, name: file.name }), complain)
  }
  const isFile = (event: DragEvent) => mayEdit && event.dataTransfer.types.includes('Files')
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Documents</h1>
        <span className="flex-1" />
        <PeopleHere />
        <CreditsChip />
        {mayEdit && shown !== undefined && shown.length > 0 && (
          <>
            <Button size="sm" className="max-sm:hidden" onClick={() => setImporting(NOTHING)}>
              <FileUp />
              Import
            </Button>
            <Button size="sm" look="primary" busy={busy} onClick={begin}>
              {!busy && <Plus />}
              New document
            </Button>
          </>
        )}
      </PageHeader>
      <div
        className={cn(
          'min-h-0 flex-1 overflow-y-auto',
          over && 'outline-2 -outline-offset-8 outline-accent outline-dashed',
        )}
        onDragOver={(event) => {
          if (!isFile(event)) return
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => void (isFile(event) && drop(event))}
      >
        {error !== null && shown === undefined ? (
          <Problem className="m-4" error={error} retry={() => void refetch()} />
        ) : shown === undefined ? (
          <div role="status" aria-label="Loading the documents" className={GRID}>
            {[0, 1, 2].map((one) => (
              <Skeleton key={one} className="h-32 rounded-2xl" />
            ))}
          </div>
        ) : shown.length > 0 ? (
          <ul aria-label="Documents" className={GRID}>
            {shown.map((one) => (
              <DocumentCard key={one.id} document={one} />
            ))}
          </ul>
        ) : mayEdit ? (
          <FirstDocument projectId={projectId} onImport={() => setImporting(NOTHING)} />
        ) : (
          <Empty className="pt-[20vh]" icon={<FileText />} title="No documents yet">
            Documents of this project appear here. To create one, ask an owner for the editor role.
          </Empty>
        )}
      </div>
      {importing !== null && (
        <ImportDialog projectId={projectId} open given={importing} onClose={() => setImporting(null)} />
      )}
    </>
  )
}

const GRID = 'mx-auto grid w-full max-w-6xl grid-cols-[repeat(auto-fill,minmax(min(100%,19rem),1fr))] gap-4 p-4 md:p-6'

const DocumentCard = ({
  document: { id, title, words, open_comments, open_edits, active_run_id, updated_at },
}: {
  document: DocumentData
}) => (
  <li data-document-card={id}>
    <Link
      href={`/documents/${id}`}
      className="flex h-full min-h-32 flex-col rounded-2xl border border-line bg-raised p-4 transition-[border-color,box-shadow] hover:border-line-strong hover:shadow-pop"
    >
      <span className="flex items-start gap-2.5">
        <FileText className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
        <span className="line-clamp-2 min-w-0 flex-1 text-[15px] leading-snug font-medium">{title}</span>
        {active_run_id !== null && (
          <span
            role="img"
            aria-label="The agent is working"
            className="mt-1.5 size-2 animate-breathe rounded-full bg-accent"
          />
        )}
      </span>
      <span className="mt-auto flex flex-wrap items-center gap-x-3.5 gap-y-1 pt-5 text-xs text-faint [&_svg]:size-3.5">
        <span>{plural(words, 'word')}</span>
        {open_comments > 0 && (
          <span className="flex items-center gap-1 text-muted">
            <MessageSquareText aria-hidden />
            {plural(open_comments, 'comment')}
          </span>
        )}
        {open_edits > 0 && (
          <span className="flex items-center gap-1 text-link">
            <GitPullRequestArrow aria-hidden />
            {plural(open_edits, 'edit')} to review
          </span>
        )}
        <Since iso={updated_at} className="ml-auto" />
      </span>
    </Link>
  </li>
)
