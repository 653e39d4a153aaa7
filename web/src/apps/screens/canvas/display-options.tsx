import { Keyboard, SlidersHorizontal } from 'lucide-react'
import { IconButton } from '@/components/button'
import { Menu, MenuItem, MenuLabel, MenuLine } from '@/components/menu'

/** The offered numbers of recently opened screens that stay live. */
export const LIVE_COUNTS = [1, 2, 4] as const

export interface DisplayOptionsProps {
  liveCount: number
  onLiveCount: (count: number) => void
  onHelp: () => void
}

/** Display options of the canvas. */
export function DisplayOptions({ liveCount, onLiveCount, onHelp }: DisplayOptionsProps) {
  return (
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
  )
}
