import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, Eye, Frame, Plus, RotateCw } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { ScreenData } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Since } from '@/components/time'
import { client } from '@/lib/queries'
import { CreditsChip } from '@/features/account/credits-chip'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { useCanvasActions } from './canvas-actions'
import { CanvasContext, useCanvas, type CanvasFacts, type Trying } from './canvas-context'
import { useBuilding, useSandboxes, useThemes, useThreads } from './canvas-facts'
import { useMovers } from './movers'
import { addressOf } from './canvas-state'
import { FrameView } from './frame-view'
import { freePlace, inReadingOrder } from './placement'
import { useFrameRegistry } from './live-frame'
import { NewScreenDialog } from './new-screen-dialog'
import { ScreenPlaceholder, themeName, tokensOf } from './screen-placeholder'
import { ScreenHeading } from './screen-heading'
import { TabButton, TabList, TabView, useTab } from './screen-sidebar'
import { screensQuery, useFreshScreens } from './screens'
import { StateBadge } from './screen-state-badge'
import { useScreenLook } from './use-screen-look'

const NOTHING = () => undefined
const NO_MOVERS = new Map<string, string>()

/** On a phone: the screens as a list; an open one fills the page, with its app as a tab. */
export function PhoneScreens({ projectId, screenId }: { projectId: string; screenId: string | null }) {
  const { data: screens, error, refetch } = useQuery(screensQuery(projectId))
  useFreshScreens(projectId)
  useMovers(projectId)
  const { choose } = useFrameRegistry()
  useEffect(() => choose(screenId), [choose, screenId])
  const facts = usePhoneFacts(projectId, screenId)
  const open = screens?.find(({ id }) => id === screenId)
  if (error !== null && screens === undefined)
    return <Problem className="m-4" error={error} retry={() => void refetch()} />
  return (
    <CanvasContext value={facts}>
      {open !== undefined ? <OpenScreen screen={open} /> : <ScreenList screens={screens} projectId={projectId} />}
    </CanvasContext>
  )
}

function usePhoneFacts(projectId: string, screenId: string | null): CanvasFacts {
  const { project, projectId: active } = useActiveProject()
  const role = active === projectId && project !== null ? project.role : 'viewer'
  const [mayEdit, mayDelete] = [role !== 'viewer', role === 'owner']
  const building = useBuilding(projectId)
  const [sandboxes, themes, threads] = [useSandboxes(projectId), useThemes(), useThreads(projectId)]
  const [trying, tryTheme] = useState<Trying | null>(null)
  const [, setTab] = useTab()
  const actions = useCanvasActions({
    ...{ projectId, hold: NOTHING, release: NOTHING, select: NOTHING, setRenaming: NOTHING, askDelete: NOTHING },
    ...{ interact: NOTHING, tryTheme, openChat: () => setTab('chat') },
  })
  const liveIds = useMemo(() => (screenId === null ? [] : [screenId]), [screenId])
  return useMemo<CanvasFacts>(
    () => ({
      ...{ projectId, mayEdit, mayDelete, alone: true, sandboxes, themes, threads, building, liveIds },
      ...{ renamingId: null, movers: NO_MOVERS, trying, actions },
    }),
    [projectId, mayEdit, mayDelete, sandboxes, themes, threads, building, liveIds, trying, actions],
  )
}

function ScreenList({ screens, projectId }: { screens: ScreenData[] | undefined; projectId: string }) {
  const { mayEdit } = useCanvas()
  const [, navigate] = useLocation()
  const [creating, setCreating] = useState(false)
  return (
    <>
      <PageHeader>
        <h1 className="flex-1 truncate text-[14.5px] font-semibold">Screens</h1>
        <CreditsChip />
        {mayEdit && (
          <IconButton label="New screen" look="primary" onClick={() => setCreating(true)}>
            <Plus />
          </IconButton>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto p-3">
        {screens === undefined && <SkeletonRows rows={4} className="h-48" />}
        {screens?.length === 0 && (
          <Empty
            className="pt-[16vh]"
            icon={<Frame />}
            title="No screens yet"
            action={
              mayEdit && (
                <Button look="primary" onClick={() => setCreating(true)}>
                  <Plus />
                  New screen
                </Button>
              )
            }
          >
            Describe what to build. An agent writes the app while you watch.
          </Empty>
        )}
        <ul className="space-y-3">
          {inReadingOrder(screens ?? []).map((screen) => (
            <li key={screen.id}>
              <ScreenCard screen={screen} />
            </li>
          ))}
        </ul>
      </div>
      <NewScreenDialog
        open={creating}
        onClose={() => setCreating(false)}
        projectId={projectId}
        placeFor={(size) => freePlace(size, { x: 0, y: 0 }, screens ?? [])}
        onCreated={({ id }) => navigate(addressOf(projectId, id))}
      />
    </>
  )
}

function ScreenCard({ screen }: { screen: ScreenData }) {
  const { themes } = useCanvas()
  const look = useScreenLook(screen, false)
  return (
    <Link
      href={addressOf(screen.project_id, screen.id)}
      data-screen={screen.id}
      className="block overflow-hidden rounded-2xl border border-line bg-raised active:bg-hover"
    >
      <div className="relative aspect-16/10 overflow-hidden border-b border-line">
        {screen.picture_id === null ? (
          <ScreenPlaceholder tokens={tokensOf(screen, themes)} unit={5} calm={screen.state === 'new'} />
        ) : (
          <img
            src={client.attachmentUrl(screen.picture_id)}
            alt={`Last screenshot of ${screen.title}`}
            loading="lazy"
            className="size-full object-cover object-top"
          />
        )}
      </div>
      <div className="px-3.5 py-2.5">
        <p className="truncate text-[15px] font-medium">{screen.title}</p>
        <p className="mt-0.5 flex items-center gap-2 text-xs text-faint">
          <StateBadge look={look} />
          <span className="truncate">{themeName(screen, themes)}</span>
          <span className="flex-1" />
          <Since iso={screen.updated_at} />
        </p>
      </div>
    </Link>
  )
}

function OpenScreen({ screen }: { screen: ScreenData }) {
  const [tab, setTab] = useTab()
  const [preview, setPreview] = useState(false)
  const { reload } = useFrameRegistry()
  return (
    <>
      <header className="flex h-13 shrink-0 items-center gap-2 border-b border-line px-2">
        <Link
          href={addressOf(screen.project_id, null)}
          aria-label="Back to the screens"
          className="grid size-9 shrink-0 place-items-center rounded-lg text-muted"
        >
          <ArrowLeft className="size-4.5" />
        </Link>
        <ScreenHeading screen={screen} />
        {preview && (
          <IconButton label="Reload" size="icon-sm" onClick={() => reload(screen.id)}>
            <RotateCw />
          </IconButton>
        )}
      </header>
      <TabList tab={preview ? null : tab} onTab={(next) => (setPreview(false), setTab(next))}>
        <TabButton on={preview} onSelect={() => setPreview(true)}>
          <Eye aria-hidden />
          App
        </TabButton>
      </TabList>
      {preview ? (
        <div role="tabpanel" aria-label="App" className="relative min-h-0 flex-1 overflow-hidden bg-side">
          <FrameView screen={screen} interactive />
        </div>
      ) : (
        <TabView screen={screen} tab={tab} />
      )}
    </>
  )
}
