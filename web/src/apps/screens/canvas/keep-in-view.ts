/** Movements of the canvas view. */
import { useReactFlow } from '@xyflow/react'
import { useEffect } from 'react'

/** The duration of a movement; zero for people who prefer reduced motion. */
export const travel = () => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 240)

/** Keeps titles and the toolbars at the edges free. */
export const FIT = { padding: { top: '88px', right: '48px', bottom: '88px', left: '48px' }, maxZoom: 1 } as const

/** Space for the handles of a selected screen and for the toolbars at the edges. */
const MARGIN = 32

/** The sidebar takes space when it opens: the open screen moves out from under it, and is zoomed out if necessary. */
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
