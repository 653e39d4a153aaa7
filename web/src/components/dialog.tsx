import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '@/lib/cn'
import { IconButton } from './button'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  children: ReactNode
  className?: string
}

/** A sheet from below on a phone, a centred card elsewhere. */
export function Dialog({ open, onClose, title, description, children, className }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          {...(description === undefined && { 'aria-describedby': undefined })}
          className={cn(
            'fixed inset-x-0 bottom-0 z-40 flex max-h-[88dvh] flex-col rounded-t-2xl border border-line bg-raised shadow-pop outline-none animate-in',
            'sm:inset-x-auto sm:top-[12vh] sm:bottom-auto sm:left-1/2 sm:ml-[-14.5rem] sm:max-h-[76vh] sm:w-[29rem] sm:rounded-2xl',
            className,
          )}
        >
          <header className="flex items-start gap-3 px-5 pt-4.5 pb-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-[15px] font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-1 text-muted">{description}</Radix.Description>
              )}
            </div>
            <IconButton label="Close" size="icon-sm" className="-mt-0.5 -mr-1.5" onClick={onClose}>
              <X />
            </IconButton>
          </header>
          <div className="min-h-0 overflow-y-auto px-5 pb-5">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
