import { useQuery } from '@tanstack/react-query'
import { useReactFlow } from '@xyflow/react'
import { PanelRight, Plus } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { CreditsChip } from '@/features/account/credits-chip'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { Canvas } from './canvas'
import { deleteScreens, useCanvasActions } from './canvas-actions'
import type { CanvasFacts, Trying } from './canvas-context'
import { useBuilding, useSandboxes, useThemes, useThreads } from './canvas-facts'
import { useMovers } from './movers'
import { useCanvasState } from './canvas-state'
import { DeleteScreens } from './delete-screens'
import { EmptyCanvas } from './empty-canvas'
import { FIT, travel, useKeepInView } from './keep-in-view'
import { freePlace } from './placement'
import { NewScreenDialog } from './new-screen-dialog'
import { PeopleHere } from '@/features/shell/people-here'
import { ScreenHeading } from './screen-heading'
import { ScreenSidebar, useTab } from './screen-sidebar'
import { screensQuery, useFreshScreens } from './screens'

/** The canvas of a project, and next to it the open screen. */
export function ScreensView({ projectId, screenId }: { projectId: string; screenId: string | null }) {
  const { data: screens, error, refetch } = useQuery(screensQuery(projectId))
  useFreshScreens(projectId)
  const { project, projectId: active } = useActiveProject()
  const role = active === projectId && project !== null ? project.role : 'viewer'
  const [mayEdit, mayDelete] = [role !== 'viewer', role === 'owner']
  const state = useCanvasState(projectId, screenId, screens)
  const [, setTab] = useTab()
  const [creating, setCreating] = useState(false)
  const [deleting, setDeleting] = useState<readonly ScreenData[]>([])
  const [renamingId, setRenaming] = useState<string | null>(null)
  const [trying, tryTheme] = useState<Trying | null>(null)
  const { hold, release, select, interact } = state
  const openChat = () => (state.setSidebarOpen(true), setTab('chat'))
  const actions = useCanvasActions({
    ...{ projectId, hold, release, select, setRenaming, askDelete: setDeleting, interact, tryTheme, openChat },
  })
  const building = useBuilding(projectId)
  const [sandboxes, themes, threads] = [useSandboxes(projectId), useThemes(), useThreads(projectId)]
  const movers = useMovers(projectId)
  const alone = state.selectedIds.length === 1
  const { liveIds } = state
  const facts = useMemo<CanvasFacts>(
    () => ({
      ...{ projectId, mayEdit, mayDelete, alone, sandboxes, themes, threads, building, liveIds },
      ...{ renamingId, movers, trying, actions },
    }),
    [
      projectId,
      mayEdit,
      mayDelete,
      alone,
      sandboxes,
      themes,
      threads,
      building,
      liveIds,
      renamingId,
      movers,
      trying,
      actions,
    ],
  )
  useKeepInView(screenId, state.sidebarOpen)
  const placeFor = usePlaceFor(screens ?? [])
  const created = useCreated(state.select, openChat)
  const open = screens?.find(({ id }) => id === screenId)
  useTitle(open)
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Canvas</h1>
        <span className="flex-1" />
        <PeopleHere />
        <CreditsChip />
        {mayEdit && (
          <Button size="sm" look="primary" onClick={() => setCreating(true)}>
            <Plus />
            New screen
          </Button>
        )}
        {open !== undefined && !state.sidebarOpen && (
          <IconButton label="Open the screen’s sidebar" keys="C" onClick={() => state.setSidebarOpen(true)}>
            <PanelRight />
          </IconButton>
        )}
      </PageHeader>
      <div className="flex min-h-0 flex-1">
        {error !== null && screens === undefined ? (
          <Problem className="m-4 h-fit flex-1" error={error} retry={() => void refetch()} />
        ) : screens === undefined ? (
          <div role="status" aria-label="Loading the canvas" className="flex flex-1 gap-10 p-16">
            <Skeleton className="h-56 w-80 rounded-2xl" />
            <Skeleton className="h-56 w-80 rounded-2xl" />
          </div>
        ) : (
          <Canvas state={state} facts={facts} onNew={() => mayEdit && setCreating(true)}>
            {screens.length === 0 && (
              <EmptyCanvas mayEdit={mayEdit} form={{ projectId, placeFor, onCreated: created }} />
            )}
          </Canvas>
        )}
        {open !== undefined && state.sidebarOpen && (
          <ScreenSidebar
            screen={open}
            facts={facts}
            header={<ScreenHeading screen={open} />}
            onClose={() => state.setSidebarOpen(false)}
          />
        )}
      </div>
      <NewScreenDialog
        open={creating}
        onClose={() => setCreating(false)}
        projectId={projectId}
        placeFor={placeFor}
        onCreated={(screen) => (setCreating(false), created(screen))}
      />
      <DeleteScreens
        screens={deleting}
        onClose={() => setDeleting([])}
        onConfirm={() => void deleteScreens(projectId, deleting)}
      />
    </>
  )
}

/** Places new screens in the visible area, next to existing ones. */
function usePlaceFor(screens: readonly ScreenData[]) {
  const { screenToFlowPosition } = useReactFlow()
  return useCallback(
    (size: { width: number; height: number }) => {
      const canvas = document.querySelector('[data-canvas]')?.getBoundingClientRect()
      const centre =
        canvas === undefined ? { x: 0, y: 0 } : { x: canvas.x + canvas.width / 2, y: canvas.y + canvas.height / 2 }
      const middle = screens.length === 0 ? { x: 0, y: 0 } : screenToFlowPosition(centre)
      return freePlace(size, middle, screens)
    },
    [screens, screenToFlowPosition],
  )
}

/** Opens a new screen with its chat and scrolls to it. */
function useCreated(select: (ids: readonly string[]) => void, openChat: () => void) {
  const { fitView } = useReactFlow()
  const [madeId, setMadeId] = useState<string | null>(null)
  useEffect(() => {
    if (madeId === null) return
    const frame = requestAnimationFrame(() => {
      void fitView({ ...FIT, nodes: [{ id: madeId }], duration: travel() })
      setMadeId(null)
    })
    return () => cancelAnimationFrame(frame)
  }, [madeId, fitView])
  return (screen: ScreenData) => {
    openChat()
    select([screen.id])
    setMadeId(screen.id)
  }
}

function useTitle(open: ScreenData | undefined): void {
  const title = open?.title
  useEffect(() => {
    document.title = `${title ?? 'Canvas'} · Outlast`
  }, [title])
}
