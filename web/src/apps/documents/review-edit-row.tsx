import { Check, History, Undo2, X } from 'lucide-react'
import { memo, useEffect, useRef } from 'react'
import type { EditData, ProposalData } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { cn } from '@/lib/cn'
import { Button } from '@/components/button'
import { useNarrow } from '@/lib/use-narrow'
import { useDocumentRoom } from './document-context'
import { EditActions, HeldNote, RefusedNote, useEditing } from './review-actions'
import { EditBody, StandingNote } from './review-body'
import { EditEditor } from './review-editor'
import { useWhere } from './review-facts'
import { ICONS } from './review-inline'
import { gistOf, nameOf, supersedingVersion } from './review-list'
import { reopen } from './review-keys'
import { useIsCurrent, useReview, useReviewed } from './use-review'

interface RowProps {
  edit: EditData
  proposal: ProposalData
  resolve: (editId: string) => void
}

/** One edit in the list: a single line, or all details if it is the current one. */
export const EditRow = memo(function EditRow({ edit, resolve }: RowProps) {
  const review = useReview()
  const { store } = useDocumentRoom()
  const current = useIsCurrent(edit.id)
  const deciding = useSelected(store, (snapshot) => snapshot.deciding[edit.id])
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!current) return
    // In the next frame, so that one layout covers everything that a key press changed.
    const frame = requestAnimationFrame(() => row.current?.scrollIntoView({ block: 'nearest' }))
    return () => cancelAnimationFrame(frame)
  }, [current])
  const where = useWhere(edit)
  const Icon = ICONS[edit.op]
  const open = edit.state === 'open' && deciding === undefined
  return (
    <li
      ref={row}
      data-review-row={edit.id}
      data-state={edit.state}
      aria-current={current || undefined}
      className={cn('review-row border-b border-line', current && 'bg-side')}
    >
      <button
        className="flex w-full items-start gap-2 px-4 py-2.5 text-left hover:bg-hover max-md:min-h-12"
        aria-expanded={current}
        onClick={() => review.look(edit.id)}
      >
        <Icon className={cn('mt-0.5 size-4 shrink-0', open ? 'text-link' : 'text-faint')} aria-hidden />
        <span className="min-w-0 flex-1">
          <span className={cn('flex items-baseline gap-1.5', !open && 'text-muted')}>
            <span className="shrink-0 font-medium">{nameOf(edit)}</span>
            {where !== '' && <span className="truncate text-xs text-faint">{where}</span>}
          </span>
          {!current && <span className="block truncate text-[12.5px] text-muted">{gistOf(edit)}</span>}
        </span>
        <Outcome edit={edit} deciding={deciding} />
      </button>
      {current && <Details edit={edit} resolve={resolve} />}
    </li>
  )
})

function Details({ edit, resolve }: { edit: EditData; resolve: (editId: string) => void }) {
  const { standing, editing } = useEditing(edit)
  const narrow = useNarrow()
  const open = () => resolve(edit.id)
  if (edit.state !== 'open') return <Decided edit={edit} />
  if (editing && narrow)
    return (
      <div className="px-4 pb-3">
        <EditEditor edit={edit} standing={standing} />
      </div>
    )
  return (
    <div className="space-y-2.5 px-4 pb-3">
      <EditBody edit={edit} standing={standing} className="text-[13px] leading-relaxed" />
      <StandingNote standing={standing} resolve={open} />
      <HeldNote edit={edit} />
      <RefusedNote edit={edit} />
      {editing ? (
        <p className="text-[12.5px] text-muted">You are editing it in the text.</p>
      ) : (
        !narrow && <EditActions edit={edit} standing={standing} resolve={open} keys />
      )}
    </div>
  )
}

const FRESH = { kind: 'fresh' } as const

function Decided({ edit }: { edit: EditData }) {
  const { openPanel, mayEdit } = useDocumentRoom()
  const review = useReview()
  const undoing = useReviewed((one) => one.get().undoing)
  const { version, applied_text, new_text, state } = edit
  const edited = state === 'accepted' && applied_text !== null && applied_text.trimEnd() !== new_text.trimEnd()
  return (
    <div className="space-y-2 px-4 pb-3 text-[12.5px] text-muted">
      <EditBody edit={edited ? { ...edit, new_text: applied_text } : edit} standing={FRESH} className="text-[13px]" />
      {edited && <p>Accepted with changes by the reviewer.</p>}
      <p className="flex flex-wrap items-center gap-3">
        {version !== null && (
          <button
            className="flex items-center gap-1.5 text-link underline-offset-2 hover:underline"
            onClick={() => openPanel('history', String(version))}
          >
            <History className="size-3.5" aria-hidden />
            Version {version}
          </button>
        )}
        {mayEdit && (
          <Button size="sm" className="max-md:h-10" busy={undoing} onClick={() => void reopen(review, edit)}>
            {!undoing && <Undo2 aria-hidden />}
            Reopen
          </Button>
        )}
      </p>
    </div>
  )
}

function Outcome({ edit, deciding }: { edit: EditData; deciding: 'accept' | 'reject' | undefined }) {
  const state = deciding === 'accept' ? 'accepted' : deciding === 'reject' ? 'rejected' : edit.state
  if (state === 'open') return null
  const accepted = state === 'accepted'
  const by = edit.decided_by_name === null ? '' : ` by ${edit.decided_by_name}`
  return (
    <span
      title={`${accepted ? 'Accepted' : 'Rejected'}${by}`}
      className={cn(
        'mt-0.5 flex shrink-0 items-center gap-1 text-xs [&_svg]:size-3.5',
        accepted ? 'text-ok' : 'text-danger',
        deciding !== undefined && 'opacity-60',
      )}
    >
      {accepted ? <Check aria-hidden /> : <X aria-hidden />}
      {accepted ? 'Accepted' : 'Rejected'}
    </span>
  )
}

/** An edit that a newer change superseded, and that change. */
export function SupersededRow({ edit }: { edit: EditData }) {
  const { openPanel } = useDocumentRoom()
  const version = supersedingVersion(edit)
  return (
    <li className="border-b border-line px-4 py-2.5 text-[12.5px] text-muted">
      <p className="truncate">
        <s>{gistOf(edit)}</s>
      </p>
      <p className="mt-0.5">
        {edit.reason === '' ? 'Replaced by a newer proposal.' : edit.reason}{' '}
        {version !== null && (
          <button
            className="text-link underline-offset-2 hover:underline"
            onClick={() => openPanel('history', String(version))}
          >
            Version {version}
          </button>
        )}
      </p>
    </li>
  )
}
