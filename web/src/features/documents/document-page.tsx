import { ArrowLeft } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { Gone, PermissionNeeded, type DocumentData, type DocumentStore } from '@outlast/sdk'
import { useDocumentStore, useSelected } from '@outlast/sdk/react'
import { Problem } from '@/components/problem'
import { Empty, Skeleton } from '@/components/states'
import { useStored } from '@/lib/stored'
import { useNarrow } from '../canvas/use-narrow'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { DocumentOverlay } from './block-slots'
import { DocumentBody } from './document-body'
import { DocumentContext, PanelContext, type DocumentRoom, type PanelState, type PanelTab } from './document-context'
import { FocusStore } from './focus-store'
import { isTab, PanelTabs, RightPanel } from './right-panel'
import { showBlock, showSection } from './showing'

/** `/documents/:id`: outline, text, and beside it what is said, proposed and past. */
export default function DocumentPage({ documentId }: { documentId: string }) {
  const store = useDocumentStore(documentId)
  const document = useSelected(store, (snapshot) => snapshot.document)
  const error = useSelected(store, (snapshot) => snapshot.error)
  const gone = useSelected(store, (snapshot) => snapshot.gone)
  const { choose } = useActiveProject()
  const home = document?.project_id ?? null
  useEffect(() => {
    if (home !== null) choose(home)
  }, [home, choose])
  if (gone || document === null) return <NotYet error={error} gone={gone} retry={store.reload} />
  return <Room document={document} store={store} />
}

function Room({ document, store }: { document: DocumentData; store: DocumentStore }) {
  const { projectId, project } = useActiveProject()
  const narrow = useNarrow()
  const [panel, { openPanel, closePanel }] = usePanelState(narrow)
  const body = useRef<HTMLDivElement>(null)
  const focus = useMemo(() => new FocusStore(), [])
  const mayEdit = projectId === document.project_id && project !== null && project.role !== 'viewer'
  const { id, project_id, thread_id } = document
  const scrollToBlock = useCallback<DocumentRoom['scrollToBlock']>(
    (blockId, options) => {
      if (narrow) closePanel()
      focus.mark(blockId)
      if (options?.edit === true) focus.edit(blockId)
      requestAnimationFrame(() => showBlock(body.current, blockId))
    },
    [focus, narrow, closePanel],
  )
  const scrollToSection = useCallback(
    (sectionId: string) => {
      if (narrow) closePanel()
      requestAnimationFrame(() => showSection(body.current, sectionId))
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
  useEffect(() => {
    window.document.title = `${document.title} · Outlast`
  }, [document.title])
  return (
    <DocumentContext value={room}>
      <PanelContext value={panel}>
        <PageHeader>
          <Link
            href={`/projects/${project_id}/documents`}
            aria-label="All documents"
            title="All documents"
            className="grid size-8 shrink-0 place-items-center rounded-lg text-muted hover:bg-hover hover:text-fg"
          >
            <ArrowLeft className="size-4" />
          </Link>
          <h1 className="min-w-0 flex-1 truncate text-[14.5px] font-semibold">{document.title}</h1>
        </PageHeader>
        {narrow && <PanelTabs withDocument />}
        <div className="flex min-h-0 flex-1">
          <div
            ref={body}
            data-document-body
            className={narrow && panel.tab !== null ? 'hidden' : 'relative min-w-0 flex-1 overflow-y-auto'}
          >
            <DocumentBody />
            <DocumentOverlay />
          </div>
          <RightPanel narrow={narrow} />
        </div>
      </PanelContext>
    </DocumentContext>
  )
}

/** Which tab is open. The address says it, so that it can be sent to somebody; without, a wide window remembers the last
 * one, and on a phone the text comes first. */
function usePanelState(narrow: boolean): [PanelState, Pick<DocumentRoom, 'openPanel' | 'closePanel'>] {
  const [stored, setStored] = useStored('outlast.document.panel')
  const search = useSearch()
  const [, navigate] = useLocation()
  const go = useCallback(
    (query: string) => {
      const here = `${location.pathname}${query}`
      if (here !== `${location.pathname}${location.search}`) navigate(here, { replace: true })
    },
    [navigate],
  )
  const openPanel = useCallback(
    (tab: PanelTab, item: string | null = null) => {
      setStored(tab)
      go(`?${new URLSearchParams({ panel: tab, ...(item !== null && { item }) }).toString()}`)
    },
    [go, setStored],
  )
  const closePanel = useCallback(() => {
    if (!matchMedia('(width < 48rem)').matches) setStored('closed')
    go('')
  }, [go, setStored])
  const asked = new URLSearchParams(search)
  const named = asked.get('panel') ?? ''
  const wide = stored === 'closed' ? null : isTab(stored) ? stored : 'comments'
  const tab = isTab(named) ? named : narrow ? null : wide
  const item = isTab(named) ? asked.get('item') : null
  const state = useMemo(() => ({ tab, item }), [tab, item])
  return [state, useMemo(() => ({ openPanel, closePanel }), [openPanel, closePanel])]
}

interface NotYetProps {
  error: Error | null
  gone: boolean
  retry: () => void
}

function NotYet({ error, gone, retry }: NotYetProps) {
  const { projectId } = useActiveProject()
  if (gone || error instanceof Gone || error instanceof PermissionNeeded)
    return (
      <>
        <PageHeader>{null}</PageHeader>
        <Empty
          className="pt-[20vh]"
          title="This document is not here"
          action={
            <Link href={`/projects/${projectId}/documents`} className="text-link underline underline-offset-2">
              Go to the documents
            </Link>
          }
        >
          It was deleted, or you are not a member of its project.
        </Empty>
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
