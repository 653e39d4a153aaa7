import { NodeResizer, type NodeProps } from '@xyflow/react'
import { memo } from 'react'
import { cn } from '@/lib/cn'
import { useCanvas } from './canvas-context'
import type { ScreenNode } from './canvas-nodes'
import { useFrameRegistry } from './live-frame'
import { ScreenBar } from './screen-bar'
import { SMALLEST, TALLEST, WIDEST } from './screen-sizes'
import { ScreenTitle } from './screen-title'
import { ScreenView } from './screen-view'

/** A screen on the canvas: title, app or picture, and, when it is selected, its actions. */
export const ScreenNodeView = memo(function ScreenNodeView({ id, data, selected, dragging }: NodeProps<ScreenNode>) {
  const { screen } = data
  const { liveIds, movers, mayEdit, alone, actions } = useCanvas()
  const { interactId } = useFrameRegistry()
  const interactive = interactId === id
  const live = liveIds.includes(id)
  const only = selected && alone
  return (
    <div
      data-screen={id}
      data-title={screen.title}
      data-moved={movers.has(id) || undefined}
      data-live={live || undefined}
      data-interactive={interactive || undefined}
      className={cn('group/screen relative size-full', dragging && 'cursor-grabbing')}
    >
      <ScreenTitle screen={screen} selected={selected} live={live} />
      <div
        className={cn(
          'screen-frame relative size-full overflow-hidden rounded-[14px] bg-raised',
          movers.has(id) && 'ring-accent/60',
        )}
        data-look={
          interactive ? 'interactive' : selected ? 'selected' : screen.state === 'working' ? 'working' : undefined
        }
      >
        <ScreenView screen={screen} live={live} interactive={interactive} />
      </div>
      {only && mayEdit && !interactive && (
        <NodeResizer
          autoScale={false}
          minWidth={SMALLEST}
          minHeight={SMALLEST}
          maxWidth={WIDEST}
          maxHeight={TALLEST}
          onResizeStart={() => actions.hold([id])}
          onResizeEnd={(_, { x, y, width, height }) => {
            const place = { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) }
            actions.place(new Map([[id, place]]))
            actions.release([id])
          }}
        />
      )}
      {only && !dragging && <ScreenBar screen={screen} live={live} interactive={interactive} />}
    </div>
  )
})
