/** How the view of the canvas moves. */
import { useReactFlow } from '@xyflow/react'
import { useEffect } from 'react'

/** How long the view takes to get somewhere; at once for those who asked for less motion. */
export const travel = () => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 240)

/** Titles and the toolbars at the edges stay free of what is brought into view. */
export const FIT = { padding: { top: '88px', right: '48px', bottom: '88px', left: '48px' }, maxZoom: 1 } as const

/** Room for the handles of a screen that is selected, and for what lies at the canvas's edges. */
const MARGIN = 32

/** Opening the sidebar takes room: the screen that is open moves out from under it, and is shown smaller if it must be. */
export function useKeepInView(screenId: string | null, sidebarOpen: boolean): void {
  const { getInternalNode, getViewport, setViewport, fitView } = useReactFlow()
  useEffect(() => {
    if (screenId === null || !sidebarOpen) return
    const frame = requestAnimationFrame(() => {
      const node = getInternalNode(screenId)
      const width = document.querySelector('[data-canvas]')?.clientWidth ?? 0
      if (node === undefined || width === 0) return
      const { x, y, zoom } = getViewport()
      const left = node.internals.positionAbsolute.x * zoom + x
      const wide = (node.width ?? 0) * zoom
      const over = left + wide - (width - MARGIN)
      if (over <= 0) return
      if (wide > width - 2 * MARGIN) void fitView({ ...FIT, nodes: [{ id: screenId }], duration: travel() })
      else void setViewport({ x: x - over, y, zoom }, { duration: travel() })
    })
    return () => cancelAnimationFrame(frame)
  }, [screenId, sidebarOpen, getInternalNode, getViewport, setViewport, fitView])
}
