import { Tooltip } from 'radix-ui'
import type { ReactNode } from 'react'
import { Kbd } from './kbd'

export function Tip({ label, keys, children }: { label: ReactNode; keys?: string | undefined; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
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
