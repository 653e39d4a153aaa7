import { AlertDialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button'

interface ConfirmProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
  action: string
  onConfirm: () => void
}

/** Asks for confirmation before an action that cannot be undone. */
export function Confirm({ open, onClose, title, children, action, onConfirm }: ConfirmProps) {
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-50 bg-black/40" />
        <AlertDialog.Content className="fixed inset-x-4 top-[24vh] z-50 mx-auto max-w-sm rounded-2xl border border-line bg-raised p-5 shadow-pop animate-in">
          <AlertDialog.Title className="text-[15px] font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-1.5 text-muted">{children}</AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <AlertDialog.Action asChild>
              <Button look="danger" onClick={onConfirm}>
                {action}
              </Button>
            </AlertDialog.Action>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
