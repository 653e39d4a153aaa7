import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ComponentProps, ReactNode } from 'react'
import { cn } from '@/lib/cn'

const ROW =
  'flex w-full items-center gap-2.5 rounded-md px-2 py-1.5 text-left outline-none select-none data-highlighted:bg-hover data-disabled:opacity-45 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint'

interface MenuProps {
  trigger: ReactNode
  children: ReactNode
  align?: 'start' | 'end'
  side?: 'top' | 'bottom'
  className?: string
}

export function Menu({ trigger, children, align = 'start', side = 'bottom', className }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className={cn(
            'z-50 max-h-[min(24rem,var(--radix-dropdown-menu-content-available-height))] min-w-52 overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-pop animate-in',
            className,
          )}
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

type ItemProps = ComponentProps<typeof DropdownMenu.Item> & { danger?: boolean; checked?: boolean }

export function MenuItem({ danger = false, checked, className, children, ...rest }: ItemProps) {
  return (
    <DropdownMenu.Item className={cn(ROW, danger && 'text-danger [&_svg]:text-danger', className)} {...rest}>
      {children}
      {checked === true && <Check className="ml-auto text-link!" />}
    </DropdownMenu.Item>
  )
}

export const MenuLine = () => <DropdownMenu.Separator className="mx-1 my-1 h-px bg-line" />

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <DropdownMenu.Label className="px-2 pt-1.5 pb-1 text-[11.5px] font-medium text-faint">{children}</DropdownMenu.Label>
)
