import { FileCode2, Moon, Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { useCodeExplorer } from '@outlast/sdk/react'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { CodeViewer } from './code-viewer'
import { FileTree } from './file-tree'
import { SearchHits } from './search-hits'

export interface Opened {
  path: string
  /** From 1. */
  line: number | null
}

interface FilesViewProps {
  screen: ScreenData
  opened: Opened | null
  onOpen: (opened: Opened | null) => void
}

/** Tree and file side by side if there is room, else one after the other. */
export function FilesView({ screen, opened, onOpen }: FilesViewProps) {
  const explorer = useCodeExplorer({ screenId: screen.id, workspaceId: screen.workspace_id })
  const [q, setQ] = useState('')
  const { selectFile, selectedPath, source } = explorer
  const path = opened?.path ?? null
  useEffect(() => {
    if (path !== selectedPath) selectFile(path)
  }, [path, selectedPath, selectFile])
  const isEmpty = source !== null && explorer.fileTree.length === 0
  return (
    <>
      <div
        className={cn(
          'flex min-h-0 w-full shrink-0 flex-col border-line @xl:w-60 @xl:border-r',
          path !== null && 'hidden @xl:flex',
        )}
      >
        <SearchBox value={q} onChange={setQ} />
        {source !== null && !source.live && !isEmpty && <Asleep kept={source.checkpoint_id !== null} />}
        <div className="min-h-0 flex-1 overflow-y-auto">
          {explorer.error !== null && source === null && (
            <Problem className="m-3" error={explorer.error} retry={explorer.refresh} />
          )}
          {explorer.isLoading && <SkeletonRows rows={8} className="mx-3 mt-2 h-5" />}
          {isEmpty && (
            <Empty title="No files yet" icon={<FileCode2 />} className="py-8">
              Ask for something in the Chat tab. The files that the agent writes appear here.
            </Empty>
          )}
          {q.trim() === '' ? (
            <FileTree
              nodes={explorer.fileTree}
              expanded={explorer.expandedFolders}
              selected={path}
              changed={explorer.changedPaths}
              onToggle={explorer.toggleFolder}
              onOpen={(path) => onOpen({ path, line: null })}
            />
          ) : (
            <SearchHits
              screenId={screen.id}
              q={q.trim()}
              selected={{ path, line: opened?.line ?? null }}
              onOpen={(path, line) => onOpen({ path, line })}
            />
          )}
          {source?.truncated === true && <p className="px-3 py-2 text-xs text-faint">Some files are not shown.</p>}
        </div>
      </div>
      {opened === null ? (
        <div className="hidden min-w-0 flex-1 place-items-center bg-code @xl:grid">
          <Empty title="Choose a file" icon={<FileCode2 />} />
        </div>
      ) : (
        <CodeViewer
          screenId={screen.id}
          path={opened.path}
          content={selectedPath === opened.path ? explorer.fileContent : null}
          error={source === null ? null : explorer.error}
          line={opened.line}
          onBack={() => {
            onOpen(null)
            requestAnimationFrame(() => focusFile(opened.path))
          }}
          retry={explorer.refresh}
        />
      )}
    </>
  )
}

const focusFile = (path: string) =>
  document.querySelector<HTMLElement>(`[role=treeitem][data-path="${CSS.escape(path)}"]`)?.focus()

const Asleep = ({ kept }: { kept: boolean }) => (
  <p data-asleep role="note" className="flex gap-2 border-b border-line bg-side px-3 py-1.5 text-xs text-muted">
    <Moon className="mt-0.5 size-3 shrink-0" aria-hidden />
    {kept ? 'The sandbox is asleep. These are the files as last saved.' : 'There is no sandbox yet.'}
  </p>
)

function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const box = useRef<HTMLInputElement>(null)
  return (
    <label className="relative m-2 block shrink-0">
      <Search className="absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-faint" aria-hidden />
      <input
        ref={box}
        type="search"
        aria-label="Search in files"
        placeholder="Search in files"
        className="h-8 w-full rounded-lg border border-line bg-bg pr-8 pl-8 outline-none focus:border-accent [&::-webkit-search-cancel-button]:hidden"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && (event.stopPropagation(), onChange(''))}
      />
      {value !== '' && (
        <button
          aria-label="Clear search"
          className="absolute top-1/2 right-2 -translate-y-1/2 rounded p-0.5 text-faint hover:text-fg"
          onClick={() => (onChange(''), box.current?.focus())}
        >
          <X className="size-3.5" />
        </button>
      )}
    </label>
  )
}
