import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { IconButton } from '@/components/button'
import { Outline } from './outline'

/** The outline as a sheet, for windows without room next to the text. */
export const OutlineSheet = ({ open, onClose }: { open: boolean; onClose: () => void }) => (
  <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
    <Dialog.Portal>
      <Dialog.Overlay className="fixed inset-0 z-30 bg-black/40" />
      <Dialog.Content
        aria-describedby={undefined}
        onOpenAutoFocus={(event) => event.preventDefault()}
        className="fixed inset-x-0 bottom-0 z-30 flex max-h-[80dvh] flex-col rounded-t-2xl border border-line bg-raised shadow-pop outline-none animate-in md:inset-x-auto md:inset-y-0 md:left-0 md:max-h-none md:w-80 md:rounded-none"
      >
        <header className="flex items-center px-4 pt-3.5 pb-2">
          <Dialog.Title className="flex-1 text-[15px] font-semibold">Outline</Dialog.Title>
          <IconButton label="Close" size="icon-sm" onClick={onClose}>
            <X />
          </IconButton>
        </header>
        <Outline onGo={onClose} />
      </Dialog.Content>
    </Dialog.Portal>
  </Dialog.Root>
)
