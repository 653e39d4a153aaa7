import { useReactFlow, useStore } from '@xyflow/react'
import { Hand, Map as MapIcon, Maximize, Minus, MousePointer2, Plus } from 'lucide-react'
import { IconButton } from '@/components/button'
import { Menu, MenuItem } from '@/components/menu'
import { DisplayOptions, type DisplayOptionsProps } from './display-options'
import { FIT, travel } from './keep-in-view'

export type Tool = 'select' | 'hand'

interface ToolbarProps extends DisplayOptionsProps {
  tool: Tool
  onTool: (tool: Tool) => void
  map: boolean
  onMap: (shown: boolean) => void
}

/** At the lower edge: tools, zoom, and display options. */
export function CanvasToolbar({ tool, onTool, map, onMap, liveCount, onLiveCount, onHelp }: ToolbarProps) {
  return (
    <div
      role="toolbar"
      aria-label="Canvas"
      className="absolute bottom-4 left-1/2 z-10 flex -translate-x-1/2 items-center gap-0.5 rounded-2xl border border-line bg-raised p-1.5 shadow-pop"
    >
      <ToolButton label="Select" keys="V" on={tool === 'select'} onClick={() => onTool('select')}>
        <MousePointer2 />
      </ToolButton>
      <ToolButton label="Pan" keys="H" on={tool === 'hand'} onClick={() => onTool('hand')}>
        <Hand />
      </ToolButton>
      <Line />
      <Zoom />
      <Line />
      <ToolButton label={map ? 'Hide the map' : 'Show the map'} keys="M" on={map} onClick={() => onMap(!map)}>
        <MapIcon />
      </ToolButton>
      <DisplayOptions liveCount={liveCount} onLiveCount={onLiveCount} onHelp={onHelp} />
    </div>
  )
}

const Line = () => <span aria-hidden className="mx-1 h-5 w-px bg-line" />

interface ToolButtonProps {
  label: string
  keys: string
  on: boolean
  onClick: () => void
  children: React.ReactNode
}

const ToolButton = ({ label, keys, on, onClick, children }: ToolButtonProps) => (
  <IconButton label={label} keys={keys} aria-pressed={on} className={on ? 'bg-active text-fg' : ''} onClick={onClick}>
    {children}
  </IconButton>
)

function Zoom() {
  const zoom = useStore((state) => Math.round(state.transform[2] * 100))
  const { zoomIn, zoomOut, zoomTo, fitView } = useReactFlow()
  return (
    <>
      <IconButton label="Zoom out" keys="−" onClick={() => void zoomOut({ duration: travel() })}>
        <Minus />
      </IconButton>
      <Menu
        side="top"
        className="min-w-44"
        trigger={
          <button
            aria-label={`Zoom: ${zoom} %`}
            data-zoom={zoom}
            className="h-8 w-14 rounded-lg text-center text-[12.5px] text-muted tabular-nums hover:bg-hover hover:text-fg"
          >
            {zoom} %
          </button>
        }
      >
        <MenuItem onSelect={() => void fitView({ ...FIT, duration: travel() })}>Zoom to fit</MenuItem>
        {[50, 100, 200].map((percent) => (
          <MenuItem key={percent} onSelect={() => void zoomTo(percent / 100, { duration: travel() })}>
            {percent} %
          </MenuItem>
        ))}
      </Menu>
      <IconButton label="Zoom in" keys="+" onClick={() => void zoomIn({ duration: travel() })}>
        <Plus />
      </IconButton>
      <IconButton label="Zoom to fit" keys="1" onClick={() => void fitView({ ...FIT, duration: travel() })}>
        <Maximize />
      </IconButton>
    </>
  )
}
