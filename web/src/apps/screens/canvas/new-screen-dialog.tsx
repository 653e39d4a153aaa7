import { useEffect, useRef, type ComponentProps, type ReactNode } from 'react'
import { Dialog } from '@/components/dialog'
import { NewScreenForm } from './new-screen-form'

interface NewScreenDialogProps extends ComponentProps<typeof NewScreenForm> {
  open: boolean
  onClose: () => void
}

export const NewScreenDialog = ({ open, onClose, ...form }: NewScreenDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="New screen"
    description="Describe what to build. You can leave: the work continues."
    className="sm:ml-[-20rem] sm:w-[40rem]"
  >
    <Focused>
      <NewScreenForm {...form} />
    </Focused>
  </Dialog>
)

/** Focuses the form at once; not on a phone, where the keyboard would cover the choices. */
function Focused({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!matchMedia('(pointer: coarse)').matches) box.current?.querySelector<HTMLElement>('[data-composer]')?.focus()
  }, [])
  return <div ref={box}>{children}</div>
}
