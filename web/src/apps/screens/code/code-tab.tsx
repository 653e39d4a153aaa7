import { Download } from 'lucide-react'
import { useState } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { useThread } from '@outlast/sdk/react'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { stepTabs } from '@/lib/tabs'
import { FilesView, type Opened } from './files-view'
import { HistoryView } from './history-view'
import { useCodeRequests, type CodeRequest } from './open-code'
import { RunChanges } from './run-changes-view'

type View = CodeRequest['view']

const VIEWS: Record<View, string> = { files: 'Files', changes: 'Changes', history: 'History' }

/** A screen's code: its files, the changes of each answer, and earlier versions. */
export function CodeTab({ screen }: { screen: ScreenData }) {
  const thread = useThread(screen.thread_id) // its stream reports which files change
  const [view, setView] = useState<View>('files')
  const [runId, setRunId] = useState<string | null>(null)
  const [opened, setOpened] = useState<Opened | null>(null)
  const open = (path: string, line: number | null = null) => {
    setOpened({ path, line })
    setView('files')
  }
  useCodeRequests(screen.id, (request) => {
    if (request.path !== undefined) setOpened({ path: request.path, line: request.line ?? null })
    if (request.runId !== undefined) setRunId(request.runId)
    setView(request.view)
  })
  return (
    <div data-screen-code={screen.id} className="@container flex min-h-0 flex-1 flex-col">
      <div className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1.5">
        <div role="tablist" aria-label="Code" className="flex flex-1 gap-0.5" onKeyDown={stepTabs}>
          {(Object.keys(VIEWS) as View[]).map((name) => (
            <button
              key={name}
              role="tab"
              aria-selected={view === name}
              tabIndex={view === name ? 0 : -1}
              className={cn(
                'rounded-full px-2.5 py-1 text-[12.5px] pointer-coarse:py-2',
                view === name ? 'bg-active font-medium' : 'text-muted hover:text-fg',
              )}
              onClick={() => setView(name)}
            >
              {VIEWS[name]}
            </button>
          ))}
        </div>
        <a
          href={client.screens.archiveUrl(screen.id)}
          download
          title="Download all files. To run them, use npm install and npm run dev"
          className="flex h-7 items-center gap-1.5 rounded-lg px-2.5 text-[12.5px] font-medium text-muted hover:bg-hover hover:text-fg"
        >
          <Download className="size-3.5" aria-hidden />
          ZIP
        </a>
      </div>
      {/* Kept mounted while another view is shown, to preserve open folders and the scroll position. */}
      <div
        role="tabpanel"
        aria-label="Files"
        hidden={view !== 'files'}
        className={cn('min-h-0 flex-1', view === 'files' && 'flex')}
      >
        <FilesView screen={screen} opened={opened} onOpen={setOpened} />
      </div>
      {view === 'changes' && (
        <RunChanges screen={screen} thread={thread} runId={runId} onRun={setRunId} onOpen={(path) => open(path)} />
      )}
      {view === 'history' && <HistoryView screen={screen} thread={thread} />}
    </div>
  )
}
