import { useQuery } from '@tanstack/react-query'
import { FileDiff, FolderTree } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '@/components/button'
import { useThreadFacts } from '../threads/thread-context'
import { checkpointsQuery, ofAnswer, useCheckpointNews } from './checkpoints'
import { FilesDialog } from './files-dialog'

/** Opens the thread's files as last saved; nothing if it has none. This wakes no sandbox. */
export function FilesButton() {
  const { threadId } = useThreadFacts()
  useCheckpointNews(threadId)
  const { data } = useQuery(checkpointsQuery(threadId))
  const [open, setOpen] = useState(false)
  const newest = data?.items[0]
  if (newest === undefined) return null
  return (
    <>
      <IconButton label="Files" onClick={() => setOpen(true)}>
        <FolderTree />
      </IconButton>
      {open && <FilesDialog checkpoint={newest} first="files" isNewest onClose={() => setOpen(false)} />}
    </>
  )
}

/** Opens the changes of an answer; nothing if it changed no file. */
export function ChangedFilesButton({ messageId }: { messageId: string }) {
  const { threadId } = useThreadFacts()
  const { data } = useQuery(checkpointsQuery(threadId))
  const [open, setOpen] = useState(false)
  const items = data?.items ?? []
  const mine = ofAnswer(items, messageId)
  if (mine === null) return null
  return (
    <>
      <IconButton label="Changed files" size="icon-sm" onClick={() => setOpen(true)}>
        <FileDiff />
      </IconButton>
      {open && (
        <FilesDialog
          checkpoint={mine}
          first="changes"
          isNewest={items[0]?.tree === mine.tree}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
