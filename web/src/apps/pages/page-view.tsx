import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { type PageData } from '@outlast/sdk'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { complain, say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { useStored } from '@/lib/local-storage'
import { useNarrow } from '@/lib/use-narrow'
import { useMe } from '@/features/session/session-gate'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { ConnectionBar } from '@/features/threads/connection-bar'
import { useMayDrive } from '@/features/threads/may-drive'
import { useOpenThread } from '@/features/threads/thread-context'
import { ThreadRoom } from '@/features/threads/thread-room'
import { useVersions } from './history-panel'
import { NothingYet } from './nothing-yet'
import { usePageActions } from './page-actions'
import { PageFrame } from './page-frame'
import { ViewHeader } from './page-header'
import { isTab, PagePanel, PanelTabs, type PanelTab } from './page-panel'
import { pageQuery, putPage, usePageNews, versionQuery } from './pages'
import { PromptBar } from './prompt-bar'
import { TimeTravel } from './time-travel'
import { useLivePage } from './use-live-page'
import { NotLoaded } from '@/components/not-loaded'

/** `/pages/:id`: the live page with its conversation and history. */
export default function PageView({ pageId }: { pageId: string }) {
  const { data: page, error, refetch } = useQuery(pageQuery(pageId))
  const { choose, projectId } = useActiveProject()
  const [, navigate] = useLocation()
  const home = page?.project_id ?? null
  useEffect(() => {
    if (home !== null) choose(home)
  }, [home, choose])
  const gone = useCallback(
    (id: string) => {
      if (id !== pageId) return
      say('The page was deleted.')
      navigate(`/projects/${home ?? projectId}/pages`)
    },
    [pageId, home, projectId, navigate],
  )
  usePageNews(home ?? projectId, gone)
  if (page === undefined) return <NotYet error={error} retry={() => void refetch()} />
  return (
    <ThreadRoom key={pageId} threadId={page.thread_id} look="panel" frame={withHeader(page)}>
      <Room page={page} />
    </ThreadRoom>
  )
}

const withHeader = (page: PageData) =>
  function Framed(inner: React.ReactNode) {
    return (
      <>
        <PageHeader>
          <h1 className="truncate text-[14.5px] font-semibold">{page.title}</h1>
        </PageHeader>
        {inner}
      </>
    )
  }

function Room({ page }: { page: PageData }) {
  const { open } = useOpenThread()
  const mayDrive = useMayDrive()
  const mayEdit = open.role !== null && open.role !== 'viewer'
  const narrow = useNarrow()
  const { live, state } = useLivePage(page.id)
  const { act, takeBack, busyKeys, waiting } = usePageActions(page.id)
  const [stored, setTab] = useStored('outlast.page.panel')
  const [phoneTab, setPhoneTab] = useState<PanelTab | null>(null)
  const [wanted, look] = useState<number | null>(null)
  useBackToNow(look)
  const now = Math.max(state.version, 0)
  const past = wanted === null || wanted >= now ? null : wanted
  const shown = usePast(page.id, past)
  useEffect(() => {
    document.title = `${page.active_run_id === null ? '' : '● '}${page.title} · Outlast`
  }, [page.title, page.active_run_id])
  const undo = useUndo(page, mayDrive, now > 0)
  useUndoKey(undo.run)
  const readOnly = !mayDrive || past !== null
  const onAction = useCallback((action: Parameters<typeof act>[0]) => void (mayDrive && act(action)), [mayDrive, act])
  const tab: PanelTab | null = narrow ? phoneTab : stored === 'closed' ? null : isTab(stored) ? stored : 'activity'
  const versions = useVersions(page, state.version, tab === 'history' || wanted !== null)
  const chooseTab = (next: PanelTab | null) => (narrow ? setPhoneTab(next) : setTab(next ?? 'closed'))
  const first = versions.items.at(-1)?.version ?? 0
  const panel = { page, tab, versions, now, past, onLook: look, onTab: chooseTab }
  const isEmpty = now === 0 && !state.loading && past === null
  return (
    <>
      <ViewHeader page={page} mayEdit={mayEdit} panel={tab} onPanel={chooseTab} undo={undo} narrow={narrow} />
      {narrow && <PanelTabs tab={tab} onTab={chooseTab} withPage />}
      <div className="flex min-h-0 flex-1">
        <div className={cn('relative flex min-w-0 flex-1 flex-col', narrow && tab !== null && 'hidden')}>
          <ConnectionBar connection={open.connection} onWake={open.store.wake} />
          {past !== null && (
            <TimeTravel page={page} now={now} first={first} past={past} mayRestore={mayDrive} onLook={look} />
          )}
          <div className="relative flex min-h-0 flex-1 flex-col bg-side">
            {state.error !== null && state.version < 0 && (
              <Problem className="m-4" error={state.error} retry={live.reread} />
            )}
            <PageFrame
              pageId={page.id}
              title={page.title}
              live={live}
              past={shown}
              readOnly={readOnly}
              busyKeys={busyKeys}
              onAction={onAction}
              onUndo={undo.run}
              className="flex-1"
            />
            {isEmpty && <NothingYet page={page} mayDrive={mayDrive} />}
          </div>
          <PromptBar
            page={page}
            waiting={waiting}
            mayTakeBack={mayDrive}
            onTakeBack={takeBack}
            isEmpty={isEmpty}
            besides={tab === 'activity' && !narrow}
          />
        </div>
        {tab !== null && <PagePanel {...panel} tab={tab} narrow={narrow} mayEdit={mayEdit} />}
      </div>
    </>
  )
}

/** Returns to the latest version when a member asks for a change, so that they see it being made. */
function useBackToNow(look: (version: number | null) => void): void {
  const me = useMe().user.id
  const { open } = useOpenThread()
  const lastRequestId = open.messages.findLast(({ role, sender_id }) => role === 'user' && sender_id === me)?.id ?? null
  useEffect(() => look(null), [lastRequestId, look])
}

/** An earlier version's HTML; while another version loads, the last one stays. */
function usePast(pageId: string, past: number | null) {
  const { data, error } = useQuery({
    ...versionQuery(pageId, past ?? 0),
    enabled: past !== null,
    placeholderData: (before) => before,
  })
  useEffect(() => {
    if (error !== null && past !== null) complain(error)
  }, [error, past])
  return useMemo(
    () => (past === null || data === undefined ? null : { version: data.version, html: data.html }),
    [past, data],
  )
}

export interface Undo {
  run: () => void
  busy: boolean
  /** Why it is unavailable, or null if it is available. */
  why: string | null
}

function useUndo(page: PageData, mayDrive: boolean, anything: boolean): Undo {
  const [busy, setBusy] = useState(false)
  const why = !mayDrive
    ? 'Only the driver can undo'
    : page.active_run_id !== null
      ? 'Available when the run has ended'
      : anything
        ? null
        : 'Nothing to undo'
  const run = () => {
    if (why !== null || busy) return
    setBusy(true)
    client.pages
      .undo(page.id)
      .then((changed) => {
        putPage(changed)
        say('Undone. The change is still in the history.')
      }, complain)
      .finally(() => setBusy(false))
  }
  return { run, busy, why }
}

const EDITABLE = /^(INPUT|TEXTAREA|SELECT)$/

/** Ctrl+Z, except in text fields. */
function useUndoKey(undo: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const mod = event.metaKey || event.ctrlKey
      if (!mod || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'z' || event.defaultPrevented) return
      const { target } = event
      if (target instanceof HTMLElement && (target.isContentEditable || EDITABLE.test(target.tagName))) return
      if (document.querySelector('[role="dialog"],[role="alertdialog"]') !== null) return
      event.preventDefault()
      undo()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [undo])
}

function NotYet({ error, retry }: { error: Error | null; retry: () => void }) {
  return (
    <>
      <PageHeader>
        <h1 className="text-[14.5px] font-semibold">Page</h1>
      </PageHeader>
      {error === null ? (
        <div role="status" aria-label="Loading the page" className="space-y-4 p-8">
          <Skeleton className="h-7 w-2/5" />
          <Skeleton className="h-40 w-full rounded-2xl" />
        </div>
      ) : (
        <NotLoaded noun="Page" error={error} retry={retry} />
      )}
    </>
  )
}
