import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { type DocumentData, type DocumentStore } from '@outlast/sdk'
import { useDocumentStore, useSelected } from '@outlast/sdk/react'
import { ErrorBoundary } from '@/components/error-boundary'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { useNarrow } from '@/lib/use-narrow'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { ConnectionBar } from '@/features/threads/connection-bar'
import { DocumentOverlay } from './block-slots'
import { DocumentBody } from './document-body'
import { DocumentContext, PanelContext, type DocumentRoom } from './document-context'
import { DocumentHeader } from './document-header'
import './documents.css'
import { EditorSessionContext } from './editor/use-editor-session'
import { FocusStore } from './focus-store'
import { LookContext, type Look } from './viewed-version'
import { Outline } from './outline'
import { OutlineSheet } from './outline-sheet'
import { PastView } from './past-view'
import { PanelTabs, RightPanel } from './right-panel'
import { showBlock, showSection } from './scroll-to'
import { useCompact } from './use-compact'
import { usePanelState } from './use-panel'
import { useNewEditorSession } from './use-new-editor-session'
import { usePresence } from './use-presence'
import { NotFound, isHidden } from '@/components/not-loaded'

/** `/documents/:id`: outline and text, with comments, agent, review and history next to them. */
export default function DocumentPage({ documentId }: { documentId: string }) {
  const store = useDocumentStore(documentId)
  const document = useSelected(store, (snapshot) => snapshot.document)
  const error = useSelected(store, (snapshot) => snapshot.error)
  const gone = useSelected(store, (snapshot) => snapshot.gone)
  const { choose, projectId } = useActiveProject()
  const [, navigate] = useLocation()
  const home = document?.project_id ?? null
  useEffect(() => {
    if (home !== null) choose(home)
  }, [home, choose])
  useEffect(() => {
    if (!gone || home === null) return
    say('The document was deleted.')
    navigate(`/projects/${home}/documents`)
  }, [gone, home, navigate])
  if (gone || document === null) return <NotYet error={error} gone={gone} projectId={projectId} retry={store.reload} />
  return <Room document={document} store={store} />
}

function Room({ document, store }: { document: DocumentData; store: DocumentStore }) {
  const { projectId, project, connection } = useActiveProject()
  const narrow = useNarrow()
  const compact = useCompact()
  const [panel, { openPanel, closePanel }] = usePanelState(narrow)
  const body = useRef<HTMLDivElement>(null)
  const focus = useMemo(() => new FocusStore(), [])
  const [look, setLook] = useState<Look>(null)
  const [sheet, setSheet] = useState(false)
  const { id, project_id, thread_id } = document
  const session = useNewEditorSession(store, id, true)
  usePresence(store, focus, session)
  const mayEdit = projectId === document.project_id && project !== null && project.role !== 'viewer'
  const scrollToBlock = useCallback<DocumentRoom['scrollToBlock']>(
    (blockId, options) => {
      if (narrow) closePanel()
      setLook(null)
      const key = store.keyOf(blockId)
      if (options?.edit === true) focus.edit(key)
      else focus.mark(key)
      afterDrawing(() => showBlock(body.current, blockId))
    },
    [focus, narrow, closePanel, store],
  )
  const scrollToSection = useCallback(
    (sectionId: string) => {
      if (narrow) closePanel()
      setLook(null)
      afterDrawing(() => showSection(body.current, sectionId))
    },
    [narrow, closePanel],
  )
  const room = useMemo<DocumentRoom>(
    () => ({
      documentId: id,
      projectId: project_id,
      threadId: thread_id,
      store,
      focus,
      mayEdit,
      scrollToBlock,
      scrollToSection,
      openPanel,
      closePanel,
    }),
    [id, project_id, thread_id, store, focus, mayEdit, scrollToBlock, scrollToSection, openPanel, closePanel],
  )
  const looking = useMemo(() => ({ look, setLook }), [look])
  useAsked(room)
  useEffect(() => {
    window.document.title = `${document.active_run_id === null ? '' : '● '}${document.title} · Outlast`
  }, [document.title, document.active_run_id])
  return (
    <DocumentContext value={room}>
      <PanelContext value={panel}>
        <LookContext value={looking}>
          <EditorSessionContext value={session}>
            <DocumentHeader document={document} narrow={narrow} sheet={compact} onOutline={() => setSheet(true)} />
            {narrow && <PanelTabs withDocument />}
            <ConnectionBar connection={connection} onWake={store.reload} />
            <div className="flex min-h-0 flex-1">
              {!compact && (
                <div className="flex w-52 shrink-0 flex-col border-r border-line bg-side/50 2xl:w-64">
                  <p className="px-4 pt-4 pb-2 text-[11.5px] font-medium text-faint">Outline</p>
                  <Outline />
                </div>
              )}
              <div
                ref={body}
                data-document-body
                data-for-writing
                className={cn('relative min-w-0 flex-1 overflow-y-auto', narrow && panel.tab !== null && 'hidden')}
              >
                <ErrorBoundary>{look === null ? <DocumentBody /> : <PastView look={look} />}</ErrorBoundary>
                <DocumentOverlay />
              </div>
              <RightPanel narrow={narrow} />
            </div>
            <OutlineSheet open={sheet && compact} onClose={() => setSheet(false)} />
          </EditorSessionContext>
        </LookContext>
      </PanelContext>
    </DocumentContext>
  )
}

const afterDrawing = (call: () => void): void => {
  requestAnimationFrame(() => requestAnimationFrame(call))
}

/** The address may name a place to show: `?block=` or `?section=`, applied once the text has loaded. */
function useAsked({ store, scrollToBlock, scrollToSection }: DocumentRoom): void {
  const [asked] = useState(() => new URLSearchParams(location.search))
  const done = useRef(false)
  const loaded = useSelected(store, ({ content }) => content.version >= 0)
  useEffect(() => {
    if (!loaded || done.current) return
    done.current = true
    const [block, section] = [asked.get('block'), asked.get('section')]
    if (block !== null) scrollToBlock(block)
    else if (section !== null) scrollToSection(section)
  }, [loaded, asked, scrollToBlock, scrollToSection])
}

interface NotYetProps {
  error: Error | null
  gone: boolean
  projectId: string
  retry: () => void
}

function NotYet({ error, gone, projectId, retry }: NotYetProps) {
  if (gone || isHidden(error))
    return (
      <>
        <PageHeader>{null}</PageHeader>
        <NotFound noun="Document" href={`/projects/${projectId}/documents`} label="Go to the documents" />
      </>
    )
  return (
    <>
      <PageHeader>{null}</PageHeader>
      {error !== null && <Problem className="m-4" error={error} retry={retry} />}
      <div role="status" aria-label="Loading the document" className="mx-auto w-full max-w-3xl space-y-4 px-6 pt-12">
        <Skeleton className="h-9 w-1/2" />
        <Skeleton className="h-4 w-11/12" />
        <Skeleton className="h-4" />
        <Skeleton className="h-4 w-3/5" />
      </div>
    </>
  )
}
