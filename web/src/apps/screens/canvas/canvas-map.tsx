import { MiniMap } from '@xyflow/react'
import type { ScreenNode } from './canvas-nodes'

const COLOURS: Record<string, string> = {
  working: 'var(--accent)',
  waiting: 'var(--amber)',
  problems: 'var(--amber)',
  failed: 'var(--danger)',
}

const colourOf = (node: ScreenNode): string =>
  node.selected === true ? 'var(--accent)' : (COLOURS[node.data.screen.state] ?? 'var(--faint)')

/** Up to this many screens need no map. */
const FEW = 3

/** A map of the whole canvas; dragging in it moves the view. */
export function CanvasMap({ screens }: { screens: number }) {
  if (screens <= FEW) return null
  return (
    <MiniMap<ScreenNode>
      pannable
      zoomable
      ariaLabel="Map of the canvas"
      nodeColor={colourOf}
      nodeBorderRadius={24}
      bgColor="transparent"
      maskColor="var(--map-mask)"
      maskStrokeColor="var(--accent)"
      maskStrokeWidth={2}
      offsetScale={4}
      style={{ width: 180, height: 120 }}
      className="canvas-map"
    />
  )
}
