import { CircleAlert, CloudOff, LoaderCircle, PencilLine } from 'lucide-react'
import { Conflict, OutlastError } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { Button } from '@/components/button'
import { CopyIcon } from '@/components/copy'
import { complain, say } from '@/components/toast'
import { clockTime } from '@/lib/format'
import { client } from '@/lib/queries'
import { useDocumentRoom } from './document-context'
import { MergeView } from './editor/merge-view'
import { useEditorSession } from './editor/use-editor-session'
import type { DraftStatus } from './editor/editor-session'

interface DraftNoteProps {
  status: DraftStatus
  /** The server's current text of the block; null: the server does not have the block yet. */
  present: string | null
  editing: boolean
}

/** Below a block whose text differs from the server's: the state of its draft, and the available actions. */
export function DraftNote({ status, present, editing }: DraftNoteProps) {
  const session = useEditorSession()
  const { focus } = useDocumentRoom()
  const { key, state, problem, meeting } = status
  const text = session.textOf(key) ?? ''
  if (state === 'conflict' && meeting !== null)
    return (
      <MergeView
        meeting={meeting}
        mine={text}
        onResolve={(made, current) => {
          focus.mark(key)
          session.resolve(key, made, current).catch(complain)
        }}
        onTheirs={() => {
          session.discard(key)
          focus.mark(key)
        }}
      />
    )
  if (state === 'found')
    return (
      <Note icon={<PencilLine />} words="Unsaved changes from your last visit.">
        <Button size="sm" look="ghost" onClick={() => session.discard(key)}>
          Discard
        </Button>
        <Button size="sm" onClick={() => void session.save(key)}>
          Save
        </Button>
      </Note>
    )
  if (state === 'offline')
    return (
      <Note
        icon={<CloudOff />}
        words="The server cannot be reached. Your text is kept in this browser and saved when the connection is back."
      >
        <Button size="sm" onClick={() => void session.save(key)}>
          Try now
        </Button>
      </Note>
    )
  if (state === 'refused') return <Refused status={status} problem={problem} text={text} />
  if (editing && present !== null && state !== 'saving' && session.baseOf(key)?.trimEnd() !== present.trimEnd())
    return (
      <Note
        icon={<PencilLine />}
        words={
          state === 'clean'
            ? 'Someone just changed this block.'
            : 'Someone else changed this block too. Both changes are merged when you save.'
        }
      >
        {state === 'clean' && (
          <Button
            size="sm"
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => session.follow(key, present)}
          >
            Show it
          </Button>
        )}
      </Note>
    )
  return null
}

function Refused({ status, problem, text }: { status: DraftStatus; problem: Error | null; text: string }) {
  const session = useEditorSession()
  const { store } = useDocumentRoom()
  const locked = problem instanceof Conflict && problem.code === 'section_locked'
  const sectionId =
    status.place?.sectionId ??
    store.get().content.blocks[store.idOf(status.key)]?.section_id ??
    status.key.split(':')[1] ??
    ''
  const lock = useSelected(store, ({ content }) => content.sections[sectionId]?.lock ?? null)
  const words =
    locked && lock !== null
      ? `${lock.holder_name} locked this section until ${clockTime(lock.expires_at)}. Your text is kept in this browser.`
      : (problem?.message ?? 'Not saved.')
  const hint = !locked && problem instanceof OutlastError ? ` ${problem.hint}` : ''
  return (
    <Note icon={<CircleAlert />} words={words + hint}>
      <CopyIcon label="Copy my text" text={text} />
      <Button size="sm" look="ghost" onClick={() => session.discard(status.key)}>
        Discard
      </Button>
      {locked && lock !== null && (
        <Button
          size="sm"
          onClick={() =>
            client.documents.requestSection(sectionId).then(() => say(`Request sent to ${lock.holder_name}.`), complain)
          }
        >
          Request the lock
        </Button>
      )}
      <Button size="sm" onClick={() => void session.save(status.key)}>
        Try again
      </Button>
    </Note>
  )
}

const Note = ({ icon, words, children }: { icon: React.ReactNode; words: string; children?: React.ReactNode }) => (
  <div
    role="status"
    data-draft-note
    className="my-1.5 flex flex-wrap items-center gap-x-2.5 gap-y-1.5 rounded-lg border border-warn-line bg-warn-soft px-3 py-1.5 text-[13px] [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-warn"
  >
    {icon}
    <span className="min-w-40 flex-1">{words}</span>
    {children}
  </div>
)

/** In the corner of a block: it is being saved. */
export const Saving = () => (
  <span role="status" aria-label="Saving" className="pointer-events-none absolute top-2 right-3 text-faint">
    <LoaderCircle className="size-3.5 animate-spin" aria-hidden />
  </span>
)
