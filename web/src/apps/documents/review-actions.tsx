import { Check, Hand, Lock as LockIcon, PencilLine, X } from 'lucide-react'
import { useState } from 'react'
import { Conflict, OutlastError, type EditData, type Lock } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { Button } from '@/components/button'
import { Kbd } from '@/components/kbd'
import { Problem } from '@/components/problem'
import { ClockTime } from '@/components/time'
import { complain, say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'
import { useDocumentRoom } from './document-context'
import { useHeld } from './review-facts'
import { useStanding, type Standing } from './review-standing'
import { useReview, useReviewed } from './use-review'

interface ActionsProps {
  edit: EditData
  standing: Standing
  /** Opens the dialog that resolves a conflict. */
  resolve: () => void
  /** Show the keyboard shortcuts. */
  keys?: boolean
  className?: string
}

/** Accept, edit, reject: each with its label and shortcut. */
export function EditActions({ edit, standing, resolve, keys = false, className }: ActionsProps) {
  const { store, mayEdit } = useDocumentRoom()
  const review = useReview()
  const held = useHeld(edit)
  const deciding = useSelected(store, (snapshot) => snapshot.deciding[edit.id])
  if (!mayEdit || edit.state !== 'open') return null
  const blocked = held !== null || deciding !== undefined || standing.kind === 'asking'
  const conflict = standing.kind === 'conflict'
  const gone = conflict && edit.op === 'delete'
  const accept = () => {
    if (gone) void review.decide(edit, 'accept', { old: standing.merge.current })
    else if (conflict) resolve()
    else void review.decide(edit, 'accept')
  }
  const size = 'max-md:h-11 max-md:flex-1'
  return (
    <div className={cn('flex flex-wrap items-center gap-1.5', className)}>
      <Button
        data-does="accept"
        size="sm"
        look="primary"
        className={size}
        busy={deciding === 'accept'}
        disabled={blocked}
        onClick={accept}
      >
        {deciding !== 'accept' && <Check aria-hidden />}
        {gone ? 'Remove anyway' : conflict ? 'Decide…' : 'Accept'}
        {keys && <Kbd className="border-accent-fg/35 text-accent-fg/80">a</Kbd>}
      </Button>
      {EDITABLE.has(edit.op) && (
        <Button
          data-does="edit"
          size="sm"
          className={size}
          disabled={blocked}
          onClick={() => (conflict ? resolve() : review.startEditing(edit.id))}
        >
          <PencilLine aria-hidden />
          Edit
          {keys && <Kbd>e</Kbd>}
        </Button>
      )}
      <Button
        data-does="reject"
        size="sm"
        className={size}
        busy={deciding === 'reject'}
        disabled={deciding !== undefined}
        onClick={() => void review.decide(edit, 'reject')}
      >
        {deciding !== 'reject' && <X aria-hidden />}
        {gone ? 'Keep it' : 'Reject'}
        {keys && <Kbd>r</Kbd>}
      </Button>
    </div>
  )
}

export const EDITABLE: ReadonlySet<EditData['op']> = new Set(['replace', 'insert', 'insert_section'])

/** The lock that blocks an edit: its holder, its expiry, and a button to request it. */
export function HeldNote({ edit }: { edit: EditData }) {
  const held = useHeld(edit)
  return held === null ? null : <Held lock={held} />
}

function Held({ lock }: { lock: Lock }) {
  const { mayEdit } = useDocumentRoom()
  const [asking, setAsking] = useState(false)
  const asked = lock.requested_by !== null
  const ask = () => {
    setAsking(true)
    client.documents
      .requestSection(lock.resource_id)
      .then(() => say(`Request sent to ${lock.holder_name}.`), complain)
      .finally(() => setAsking(false))
  }
  return (
    <div role="note" className="rounded-lg bg-side px-3 py-2 text-[12.5px] text-muted">
      <p className="flex gap-1.5">
        <LockIcon className="mt-0.5 size-3.5 shrink-0" aria-hidden />
        <span>
          {lock.holder_name} locked this section until <ClockTime iso={lock.expires_at} />. You can change it after
          that, or when the lock is released.
        </span>
      </p>
      {mayEdit && (
        <Button size="sm" className="mt-1.5 max-md:h-10" busy={asking} disabled={asked} onClick={ask}>
          {!asking && <Hand aria-hidden />}
          {asked ? `${lock.requested_by_name ?? 'Someone'} requested the lock` : 'Request the lock'}
        </Button>
      )}
    </div>
  )
}

/** Why the last decision failed, and the next step. */
export function RefusedNote({ edit }: { edit: EditData }) {
  const review = useReview()
  const refused = useReviewed((one) => (one.get().refused?.editId === edit.id ? one.get().refused : null))
  if (refused === null) return null
  const { error } = refused
  // The current state of the document already explains these two.
  const known = error instanceof OutlastError && (error.code === 'text_changed' || error.code === 'section_locked')
  if (known && edit.state !== 'open') return null
  return <Problem error={error} {...(!(error instanceof Conflict) && { retry: review.forgive })} />
}

/** An edit with everything needed to decide about it. */
export function useEditing(edit: EditData) {
  const standing = useStanding(edit)
  const editing = useReviewed((review) => review.get().editing === edit.id)
  return { standing, editing }
}
