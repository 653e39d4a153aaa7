import { useState, type ReactNode } from 'react'
import type { Checkpoint } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { complain, say } from '@/components/toast'
import { client } from '@/lib/queries'

interface RestoreCheckpointProps {
  checkpoint: Checkpoint
  /** Content of the button. */
  label: ReactNode
  /** Title of the question before restoring; `children` explains what happens. */
  title: string
  /** Message once the files are restored. */
  done: string
  onDone: () => void
  children: ReactNode
}

/** A button that restores the files of a checkpoint, after a question. */
export function RestoreCheckpoint({ checkpoint, label, title, done, onDone, children }: RestoreCheckpointProps) {
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const restore = () => {
    setBusy(true)
    client
      .restoreCheckpoint(checkpoint.id)
      .then(() => {
        say(done)
        onDone()
      }, complain)
      .finally(() => setBusy(false))
  }
  return (
    <>
      <Button size="sm" busy={busy} onClick={() => setAsking(true)}>
        {label}
      </Button>
      <Confirm open={asking} onClose={() => setAsking(false)} title={title} action="Restore" onConfirm={restore}>
        {children}
      </Confirm>
    </>
  )
}
