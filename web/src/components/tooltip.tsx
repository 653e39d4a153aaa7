import { Tooltip } from 'radix-ui'
import type { FocusEvent, ReactNode } from 'react'
import { Kbd } from './kbd'

/** True if a key was pressed just now, other than to close something. */
let tabbed = false
if (typeof addEventListener === 'function') {
  addEventListener('keydown', ({ key }) => (tabbed = key === 'Tab' || key.startsWith('Arrow')), true)
  addEventListener('keyup', () => (tabbed = false), true)
  addEventListener('pointerdown', () => (tabbed = false), true)
}

/** Focus set by the program, such as a dialog's first button, shows no tooltip: it would take the first Escape. */
const stayShut = (event: FocusEvent): void => {
  if (!tabbed) event.preventDefault()
}

export function Tip({ label, keys, children }: { label: ReactNode; keys?: string | undefined; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild onFocus={stayShut}>
        {children}
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-72 items-center gap-2 rounded-md bg-fg px-2 py-1 text-xs text-bg shadow-pop animate-in select-none"
        >
          {label}
          {keys !== undefined && <Kbd className="border-bg/25 text-bg/80">{keys}</Kbd>}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

export const TipProvider = ({ children }: { children: ReactNode }) => (
  <Tooltip.Provider delayDuration={400} skipDelayDuration={200}>
    {children}
  </Tooltip.Provider>
)
