import { Dialog } from '@/components/dialog'
import { NewScreenForm } from './new-screen-form'

interface NewScreenDialogProps extends React.ComponentProps<typeof NewScreenForm> {
  open: boolean
  onClose: () => void
}

export const NewScreenDialog = ({ open, onClose, ...form }: NewScreenDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="New screen"
    description="Say what to build. You can leave: the work goes on without you."
    className="sm:ml-[-20rem] sm:w-[40rem]"
  >
    <NewScreenForm {...form} />
  </Dialog>
)
