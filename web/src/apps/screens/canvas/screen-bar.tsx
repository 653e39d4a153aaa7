import { NodeToolbar, Position } from '@xyflow/react'
import { Copy, ExternalLink, MousePointerClick, Palette, RotateCw, Trash2, X } from 'lucide-react'
import type { ScreenData } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { cn } from '@/lib/cn'
import { MOD } from '@/lib/key-bindings'
import { ThemeSelector } from '../themes/theme-selector'
import { useCanvas } from './canvas-context'
import { useFrameRegistry } from './live-frame'
import { openInTab } from './open-in-tab'
import { SIZES, sizeOf, type SizeName } from './screen-sizes'

interface BarProps {
  screen: ScreenData
  live: boolean
  interactive: boolean
}

/** The toolbar above the selected screen. Its size does not depend on the zoom. */
export function ScreenBar({ screen, live, interactive }: BarProps) {
  const { mayEdit, mayDelete, actions } = useCanvas()
  const { reload } = useFrameRegistry()
  return (
    <NodeToolbar
      isVisible
      position={Position.Top}
      align="start"
      offset={32}
      className="nodrag nopan flex items-center gap-0.5 rounded-xl border border-line bg-raised p-1 shadow-pop"
    >
      <Button
        size="sm"
        look={interactive ? 'primary' : 'ghost'}
        aria-pressed={interactive}
        onClick={() => actions.interact(interactive ? null : screen.id)}
      >
        {interactive ? <X /> : <MousePointerClick />}
        {interactive ? 'Done' : 'Use'}
      </Button>
      <Line />
      {mayEdit && <Sizes screen={screen} />}
      {mayEdit && (
        <ThemeSelector screen={screen}>
          <IconButton label="Theme" keys="T" size="icon-sm" data-theme-button>
            <Palette />
          </IconButton>
        </ThemeSelector>
      )}
      <IconButton label="Reload" keys="R" size="icon-sm" disabled={!live} onClick={() => reload(screen.id)}>
        <RotateCw />
      </IconButton>
      <IconButton label="Open in a new tab" size="icon-sm" onClick={() => openInTab(screen.id)}>
        <ExternalLink />
      </IconButton>
      {mayEdit && (
        <>
          <Line />
          <IconButton label="Duplicate" keys={`${MOD} D`} size="icon-sm" onClick={() => actions.duplicate([screen])}>
            <Copy />
          </IconButton>
          {mayDelete && (
            <IconButton label="Delete" keys="Del" size="icon-sm" onClick={() => actions.askDelete([screen])}>
              <Trash2 />
            </IconButton>
          )}
        </>
      )}
    </NodeToolbar>
  )
}

const Line = () => <span aria-hidden className="mx-1 h-4 w-px bg-line" />

function Sizes({ screen }: { screen: ScreenData }) {
  const { actions } = useCanvas()
  const size = sizeOf(screen)
  const { icon: Icon } = SIZES[size ?? 'desktop']
  return (
    <Menu
      className="min-w-56"
      trigger={
        <Button size="sm" look="ghost" aria-label="Size" className="tabular-nums">
          <Icon />
          {screen.width} × {screen.height}
        </Button>
      }
    >
      <MenuLabel>Size</MenuLabel>
      {(Object.keys(SIZES) as SizeName[]).map((name) => {
        const { label, width, height, icon: One } = SIZES[name]
        return (
          <MenuItem
            key={name}
            checked={name === size}
            onSelect={() => actions.place(new Map([[screen.id, { width, height }]]))}
          >
            <One />
            {label}
            <span className={cn('ml-auto pl-4 text-xs text-faint tabular-nums', name === size && 'ml-2')}>
              {width} × {height}
            </span>
          </MenuItem>
        )
      })}
    </Menu>
  )
}
