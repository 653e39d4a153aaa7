import type { ScreenData } from '@outlast/sdk'
import { Confirm } from '@/components/confirm'

interface DeleteProps {
  screens: readonly ScreenData[]
  onClose: () => void
  onConfirm: () => void
}

/** Asks for confirmation before screens are deleted. */
export function DeleteScreens({ screens, onClose, onConfirm }: DeleteProps) {
  const [first] = screens
  return (
    <Confirm
      open={screens.length > 0}
      onClose={onClose}
      title={screens.length === 1 ? `Delete “${first?.title ?? ''}”?` : `Delete ${screens.length} screens?`}
      action={screens.length === 1 ? 'Delete screen' : `Delete ${screens.length} screens`}
      onConfirm={onConfirm}
    >
      {screens.length === 1 ? 'Its app, files and conversation' : 'Their apps, files and conversations'} are deleted for
      everyone in this project. This cannot be undone.
    </Confirm>
  )
}
