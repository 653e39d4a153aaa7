import { useInfiniteQuery } from '@tanstack/react-query'
import { Files, Search, Upload as UploadIcon, X } from 'lucide-react'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import type { ArtifactData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { useDebounced } from '@/lib/use-debounced'
import { useMe } from '../session/session-gate'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { FileHits } from './file-hits'
import { FileRow } from './file-row'
import { FileTextDialog } from './file-text-dialog'
import { filesQuery, useFileNews } from './project-files'
import { UploadRow } from './upload-row'
import { useUploads } from './use-uploads'
import { MoreButton } from '@/components/more-button'

const ACCEPTED = 'text/*,.md,.markdown,.csv,.json,.yaml,.toml,application/pdf,image/png,image/jpeg,image/gif,image/webp'

/** `/projects/:id/files`: files that people add to the project and agents search. */
export default function FilesPage({ projectId }: { projectId: string }) {
  const me = useMe()
  const { projectId: active, project, choose } = useActiveProject()
  const list = useInfiniteQuery(filesQuery(projectId))
  const { data, error, refetch } = list
  const { uploads, add, dismiss } = useUploads(projectId)
  const [reading, setReading] = useState<{ file: ArtifactData; page: number } | null>(null)
  const [q, setQ] = useState('')
  const searchText = useDebounced(q.trim())
  const chooser = useRef<HTMLInputElement>(null)
  useFileNews(projectId)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Files · Outlast'
  }, [])
  const role = active === projectId && project !== null ? project.role : 'viewer'
  const mayEdit = role !== 'viewer'
  const files = data?.pages.flatMap(({ items }) => items)
  const { over, ...drop } = useDrop(mayEdit, add)
  const choosing = () => chooser.current?.click()
  return (
    <div className="relative flex min-h-0 flex-1 flex-col" {...drop}>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Files</h1>
        <span className="flex-1" />
        {mayEdit && files !== undefined && files.length > 0 && (
          <Button size="sm" look="primary" onClick={choosing}>
            <UploadIcon />
            Add files
          </Button>
        )}
      </PageHeader>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        accept={ACCEPTED}
        aria-label="Files to add"
        onChange={(event) => {
          add(event.target.files ?? [])
          event.target.value = ''
        }}
      />
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6 sm:py-6">
          {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
          {files === undefined && error === null && <SkeletonRows rows={4} className="h-16 rounded-2xl" />}
          {uploads.length > 0 && (
            <ul aria-label="Uploads" className="mb-4 space-y-2">
              {uploads.map((one) => (
                <UploadRow key={one.key} upload={one} onDismiss={() => dismiss(one.key)} />
              ))}
            </ul>
          )}
          {files !== undefined && files.length === 0 && uploads.length === 0 && (
            <NoFiles mayEdit={mayEdit} onAdd={choosing} />
          )}
          {files !== undefined && files.length > 0 && (
            <>
              <SearchBox q={q} onQ={setQ} />
              {searchText === '' ? (
                <ul aria-label="Files" className="divide-y divide-line rounded-2xl border border-line bg-raised">
                  {files.map((file) => (
                    <FileRow
                      key={file.id}
                      file={file}
                      mayDelete={role === 'owner' || (mayEdit && file.created_by === me.user.id)}
                      onText={() => setReading({ file, page: 1 })}
                    />
                  ))}
                </ul>
              ) : (
                <FileHits projectId={projectId} q={searchText} onOpen={(file, page) => setReading({ file, page })} />
              )}
              {searchText === '' && <MoreButton list={list} label="Show older files" className="mx-auto mt-4 flex" />}
            </>
          )}
        </div>
      </div>
      {over && (
        <div
          aria-hidden
          className="pointer-events-none absolute inset-2 z-20 grid place-items-center rounded-2xl border-2 border-dashed border-accent bg-bg/85 text-[15px] font-medium"
        >
          Drop files to add them to the project
        </div>
      )}
      {reading !== null && <FileTextDialog file={reading.file} first={reading.page} onClose={() => setReading(null)} />}
    </div>
  )
}

/** Accepts files that are dropped on an element, and highlights it during the drag. */
function useDrop(may: boolean, add: (files: Iterable<File>) => void) {
  const [depth, setDepth] = useState(0)
  const carries = (event: DragEvent) => may && event.dataTransfer.types.includes('Files')
  return {
    over: depth > 0,
    onDragEnter: (event: DragEvent) => carries(event) && setDepth((now) => now + 1),
    onDragLeave: (event: DragEvent) => carries(event) && setDepth((now) => Math.max(0, now - 1)),
    onDragOver: (event: DragEvent) => carries(event) && event.preventDefault(),
    onDrop: (event: DragEvent) => {
      if (!carries(event)) return
      event.preventDefault()
      setDepth(0)
      add(event.dataTransfer.files)
    },
  }
}

const SearchBox = ({ q, onQ }: { q: string; onQ: (q: string) => void }) => (
  <search className="mb-4 block">
    <label className="relative block">
      <Search className="absolute top-1/2 left-3.5 size-4 -translate-y-1/2 text-faint" aria-hidden />
      <input
        type="search"
        aria-label="Search in files"
        placeholder="Search file contents, as agents do"
        maxLength={2000}
        className={cn(
          'h-11 w-full rounded-xl border border-line-strong bg-raised pr-10 pl-10.5 outline-none',
          'focus:border-accent focus:ring-3 focus:ring-accent/15 [&::-webkit-search-cancel-button]:hidden',
        )}
        value={q}
        onChange={(event) => onQ(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onQ('')}
      />
      {q !== '' && (
        <button
          aria-label="Clear search"
          className="absolute top-1/2 right-3 -translate-y-1/2 p-1 text-faint hover:text-fg"
          onClick={() => onQ('')}
        >
          <X className="size-4" />
        </button>
      )}
    </label>
  </search>
)

const NoFiles = ({ mayEdit, onAdd }: { mayEdit: boolean; onAdd: () => void }) => (
  <Empty
    className="pt-[12vh]"
    icon={<Files />}
    title="No files yet"
    action={
      mayEdit ? (
        <Button look="primary" onClick={onAdd}>
          <UploadIcon />
          Add files
        </Button>
      ) : undefined
    }
  >
    Add reports, notes, tables and images. Agents can search them and cite their sources.
    {mayEdit && ' Drop them anywhere on this page.'}
  </Empty>
)
