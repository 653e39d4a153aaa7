import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import type { ScreenData } from '@outlast/sdk'
import { useStored } from '@/lib/local-storage'
import { useCanvasNodes } from './canvas-nodes'
import { LIVE_COUNTS } from './display-options'
import { useFrameRegistry } from './live-frame'

export type CanvasState = ReturnType<typeof useCanvasState>

export const addressOf = (projectId: string, screenId: string | null): string =>
  screenId === null ? `/projects/${projectId}/canvas` : `/screens/${screenId}`

/** The selected, open, live and used screens. The address names the open screen; a screen that is selected alone is
 * open. */
export function useCanvasState(projectId: string, screenId: string | null, screens: ScreenData[] | undefined) {
  const canvas = useCanvasNodes(screens, screenId)
  const { select, selectedIds, nodes } = canvas
  const registry = useFrameRegistry()
  const { choose, interactId, setInteractId } = registry
  const [sidebar, setSidebar] = useStored('outlast.canvas.sidebar')
  const [asked, setAsked] = useState<ReadonlySet<string>>(new Set())
  const [liveStored, setLive] = useStored('outlast.canvas.live')
  const liveCount = LIVE_COUNTS.find((count) => String(count) === liveStored) ?? 1
  const dragging = nodes.some((node) => node.dragging === true)
  useSelectionInAddress({ projectId, screenId, selectedIds, select, dragging, screens })
  useEffect(() => choose(screenId), [choose, screenId])
  const interact = useCallback(
    (id: string | null) => {
      if (id !== null) {
        select([id])
        setAsked((all) => (all.has(id) ? all : new Set(all).add(id)))
      }
      setInteractId(id)
    },
    [select, setInteractId],
  )
  const gone = interactId !== null && interactId !== screenId && !selectedIds.includes(interactId)
  useEffect(() => {
    if (gone) setInteractId(null)
  }, [gone, setInteractId])
  const recent = useRecent(screenId)
  const liveIds = useMemo(() => {
    const eligible = new Set(screens?.filter((one) => asked.has(one.id) || hasApp(one)).map(({ id }) => id))
    return recent.filter((id) => eligible.has(id)).slice(0, liveCount)
  }, [recent, screens, asked, liveCount])
  const liveKey = liveIds.join(' ')
  const [first] = useState(screenId)
  return {
    ...canvas,
    /** The screen that was open when the page loaded. */
    first,
    interact,
    // oxlint-disable-next-line exhaustive-deps -- the same ids are the same list
    liveIds: useMemo(() => liveIds, [liveKey]),
    liveCount,
    setLiveCount: (count: number) => setLive(count === 1 ? '' : String(count)),
    sidebarOpen: sidebar !== 'closed',
    setSidebarOpen: (open: boolean) => setSidebar(open ? '' : 'closed'),
    toggleSidebar: () => setSidebar(sidebar === 'closed' ? '' : 'closed'),
  }
}

/** True if there is an app to show: opening an empty screen just to see its template needs a confirmation. */
const hasApp = ({ state, files, picture_id, sandbox_id }: ScreenData): boolean =>
  state !== 'new' || files.length > 0 || picture_id !== null || sandbox_id !== null

const REMEMBERED = 8

/** The screens that were opened last, newest first. */
function useRecent(screenId: string | null): readonly string[] {
  const [recent, setRecent] = useState<readonly string[]>(screenId === null ? [] : [screenId])
  if (screenId !== null && recent[0] !== screenId)
    setRecent([screenId, ...recent.filter((id) => id !== screenId)].slice(0, REMEMBERED))
  return recent
}

interface Selecting {
  projectId: string
  screenId: string | null
  selectedIds: readonly string[]
  select: (ids: readonly string[]) => void
  dragging: boolean
  screens: ScreenData[] | undefined
}

function useSelectionInAddress({ projectId, screenId, selectedIds, select, dragging, screens }: Selecting): void {
  const [, navigate] = useLocation()
  const shown = useRef(screenId)
  const only = selectedIds.length === 1 ? (selectedIds[0] ?? null) : null
  const lastOnly = useRef(only)
  useEffect(() => {
    if (screenId === shown.current) return
    shown.current = screenId
    select(screenId === null ? [] : [screenId])
  }, [screenId, select])
  useEffect(() => {
    if (dragging || only === lastOnly.current) return
    lastOnly.current = only
    if (only === shown.current) return
    shown.current = only
    navigate(addressOf(projectId, only), { replace: true })
  }, [only, dragging, projectId, navigate])
  const missing = screenId !== null && screens !== undefined && !screens.some(({ id }) => id === screenId)
  useEffect(() => {
    if (missing) navigate(addressOf(projectId, null), { replace: true })
  }, [missing, projectId, navigate])
}
