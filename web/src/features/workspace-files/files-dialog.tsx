import { History } from 'lucide-react'
import { useState } from 'react'
import type { Checkpoint } from '@outlast/sdk'
import { Dialog } from '@/components/dialog'
import { cn } from '@/lib/cn'
import { bytes, fullTime, plural } from '@/lib/format'
import { queryClient } from '@/lib/queries'
import { useThreadFacts } from '../threads/thread-context'
import { Changes } from './file-changes'
import { checkpointsQuery } from './checkpoints'
import { FileList } from './file-list'
import { RestoreCheckpoint } from './restore-checkpoint'

type FilesTab = 'files' | 'changes'

interface FilesDialogProps {
  checkpoint: Checkpoint
  first: FilesTab
  /** True for the current files, which cannot be restored. */
  isNewest: boolean
  onClose: () => void
}

/** A thread's files at one point in time: all of them, and the changes. */
export function FilesDialog({ checkpoint, first, isNewest, onClose }: FilesDialogProps) {
  const [tab, setTab] = useState<FilesTab>(first)
  const { mayWrite } = useThreadFacts()
  const description = `${plural(checkpoint.files, 'file')}, ${bytes(checkpoint.size_bytes)}, as of ${fullTime(checkpoint.created_at)}`
  return (
    <Dialog open onClose={onClose} title="Files" description={description} className="sm:ml-[-23rem] sm:w-[46rem]">
      <div className="mb-3 flex flex-wrap items-center gap-1.5">
        <div role="tablist" aria-label="Files" className="flex flex-1 gap-1">
          <Tab name="Changes" chosen={tab === 'changes'} onChoose={() => setTab('changes')} />
          <Tab name="All files" chosen={tab === 'files'} onChoose={() => setTab('files')} />
        </div>
        {mayWrite && !isNewest && <Restore checkpoint={checkpoint} onDone={onClose} />}
      </div>
      <div role="tabpanel">
        {tab === 'changes' ? <Changes checkpoint={checkpoint} /> : <FileList checkpoint={checkpoint} />}
      </div>
    </Dialog>
  )
}

function Tab({ name, chosen, onChoose }: { name: string; chosen: boolean; onChoose: () => void }) {
  return (
    <button
      role="tab"
      aria-selected={chosen}
      className={cn(
        'rounded-full px-2.5 py-1 text-[12.5px]',
        chosen ? 'bg-active font-medium' : 'text-muted hover:text-fg',
      )}
      onClick={onChoose}
    >
      {name}
    </button>
  )
}

function Restore({ checkpoint, onDone }: { checkpoint: Checkpoint; onDone: () => void }) {
  const { threadId } = useThreadFacts()
  const finish = () => {
    void queryClient.invalidateQueries(checkpointsQuery(threadId))
    onDone()
  }
  return (
    <RestoreCheckpoint
      checkpoint={checkpoint}
      label={
        <>
          <History />
          Restore these files
        </>
      }
      title="Restore these files?"
      done="Files restored"
      onDone={finish}
    >
      All files of this thread return to this point. The current files are saved as a checkpoint, so you can restore
      them later.
    </RestoreCheckpoint>
  )
}
