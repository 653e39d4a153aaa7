import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { MemoryData } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Since } from '@/components/time'
import { complain, offer } from '@/components/toast'
import { shownTitle } from '@/lib/format'
import { client } from '@/lib/queries'
import { refreshMemories } from './memories'
import { MemoryForm } from './memory-form'

const short = (text: string) => (text.length <= 60 ? text : `${text.slice(0, 59)}…`)

interface MemoryRowProps {
  projectId: string
  memory: MemoryData
  mayChange: boolean
}

/** One memory: its text, where it comes from, and its actions. */
export function MemoryRow({ projectId, memory, mayChange }: MemoryRowProps) {
  const [editing, setEditing] = useState(false)
  const [asking, setAsking] = useState(false)
  const { id, scope, text } = memory
  const refresh = () => refreshMemories(projectId)
  const restore = (whose: 'project' | 'person') => client.memories.add(projectId, text, whose).then(refresh, complain)
  const remove = async () => {
    await client.memories.delete(id)
    if (scope !== 'run') offer(`Deleted “${short(text)}”`, 'Undo', () => void restore(scope))
    await refresh()
  }
  return (
    <li data-memory={id} className="px-4 py-3 sm:px-5">
      {editing ? (
        <MemoryForm
          label="Memory"
          text={text}
          onSave={(wanted) => client.memories.edit(id, wanted).then(refresh)}
          onDone={() => setEditing(false)}
        />
      ) : (
        <div className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <p className="break-words">{text}</p>
            <Origin memory={memory} />
          </div>
          {mayChange && (
            <>
              <IconButton label="Edit memory" size="icon-sm" onClick={() => setEditing(true)}>
                <Pencil />
              </IconButton>
              <IconButton
                label="Delete memory"
                size="icon-sm"
                onClick={() => (scope === 'run' ? setAsking(true) : void remove().catch(complain))}
              >
                <Trash2 />
              </IconButton>
            </>
          )}
        </div>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Delete this line?"
        action="Delete"
        onConfirm={() => void remove().catch(complain)}
      >
        Agents no longer find what this run did. The thread stays. This cannot be undone.
      </Confirm>
    </li>
  )
}

const Origin = ({ memory }: { memory: MemoryData }) => (
  <p className="mt-0.5 flex flex-wrap items-center gap-x-1.5 text-xs text-faint">
    <span>
      {memory.created_by_name !== null && `${memory.created_by_name}, `}
      <Since iso={memory.created_at} />
    </span>
    {memory.updated_at !== null && <span>· edited</span>}
    {memory.thread_id !== null && (
      <Link href={`/threads/${memory.thread_id}`} className="min-w-0 truncate text-link hover:underline">
        {shownTitle(memory.thread_title ?? '')}
      </Link>
    )}
  </p>
)
