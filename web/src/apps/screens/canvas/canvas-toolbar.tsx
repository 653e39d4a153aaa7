import { useReactFlow, useStore } from '@xyflow/react'
import { Hand, Keyboard, Map as MapIcon, Maximize, Minus, MousePointer2, Plus, SlidersHorizontal } from 'lucide-react'
import { IconButton } from '@/components/button'
import { Menu, MenuItem, MenuLabel, MenuLine } from '@/components/menu'
import { MOD } from '@/lib/keys'

export type Tool = 'select' | 'hand'

interface ToolbarProps {
  tool: Tool
  onTool: (tool: Tool) => void
  map: boolean
  onMap: (shown: boolean) => void
  liveCount: number
  onLiveCount: (count: number) => void
  onHelp: () => void
}

export const LIVE_COUNTS = [1, 2, 4] as const
/** How long the view takes to get somewhere; at once for those who asked for less motion. */
export const travel = () => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 240)
/** Titles and the toolbars at the edges stay free of what is brought into view. */
export const FIT = { padding: { top: '88px', right: '48px', bottom: '88px', left: '48px' }, maxZoom: 1 } as const

/** At the lower edge: tools, zoom, and how the canvas is shown. */
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
      <Menu
        side="top"
        align="end"
        trigger={
          <IconButton label="Display options">
            <SlidersHorizontal />
          </IconButton>
        }
      >
        <MenuLabel>Live apps</MenuLabel>
        {LIVE_COUNTS.map((count) => (
          <MenuItem key={count} checked={count === liveCount} onSelect={() => onLiveCount(count)}>
            {count === 1 ? 'Only the open screen' : `Last ${count} opened`}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem onSelect={onHelp}>
          <Keyboard />
          Keyboard shortcuts
        </MenuItem>
      </Menu>
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

export const SHORTCUTS: [group: string, rows: [keys: string, what: string][]][] = [
  [
    'Screens',
    [
      ['S', 'New screen'],
      ['Enter', 'Use the selected screen, or open it'],
      ['Esc', 'Stop using it, then clear the selection'],
      ['F2', 'Rename'],
      ['T', 'Theme'],
      ['R', 'Reload the app'],
      [`${MOD} D`, 'Duplicate'],
      ['Del', 'Delete'],
      ['← ↑ → ↓', 'Move; further with Shift'],
    ],
  ],
  [
    'View',
    [
      ['1', 'Zoom to fit'],
      ['2', 'Zoom to the selection'],
      ['0', '100 %'],
      ['+  −', 'Zoom in, out'],
      ['Space', 'Hold and drag to pan'],
      ['V  H', 'Select, pan'],
      ['M', 'Map'],
      ['C', 'Sidebar'],
    ],
  ],
  [
    'Selecting',
    [
      [`${MOD} A`, 'All screens'],
      ['Shift click', 'Add to or remove from the selection'],
      ['Drag', 'Select inside a rectangle'],
      ['Tab', 'Next screen'],
    ],
  ],
]
