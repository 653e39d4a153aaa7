import { ArrowRight, Bot, CornerDownRight, GitPullRequestArrow, Minus, PencilLine, Plus } from 'lucide-react'
import { memo } from 'react'
import type { EditData } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { useNarrow } from '@/lib/use-narrow'
import { useDocumentRoom } from './document-context'
import { EditActions, HeldNote, RefusedNote, useEditing } from './review-actions'
import { EditBody, StandingNote } from './review-body'
import { EditEditor } from './review-editor'
import { gistOf, nameOf, numberOf } from './review-list'
import './review.css'
import { useArrivals, useEditsAt, useIsCurrent, useReview, useReviewed, useReviewing } from './use-review'

/** The edits proposed at a place of the document: in full during a review, otherwise a hint that opens it. */
export const InlineEdits = memo(function InlineEdits({ place }: { place: string }) {
  const edits = useEditsAt(place)
  const arrivals = useArrivals(place)
  const reviewing = useReviewing()
  if (edits.length === 0 && (arrivals.length === 0 || !reviewing)) return null
  if (!reviewing) return <Hint edits={edits} />
  return (
    <div className="my-1.5 space-y-2">
      {edits.map((edit) => (
        <InlineEdit key={edit.id} edit={edit} />
      ))}
      {arrivals.map((edit) => (
        <Arrival key={edit.id} edit={edit} />
      ))}
    </div>
  )
})

/** The target of a moved block. */
function Arrival({ edit }: { edit: EditData }) {
  const review = useReview()
  const current = useIsCurrent(edit.id)
  return (
    <button
      className={cn(
        'flex w-full items-center gap-2 rounded-lg border border-dashed px-3 py-1.5 text-left text-[12.5px] text-muted hover:text-fg',
        current ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
      onClick={() => review.look(edit.id)}
    >
      <CornerDownRight className="size-3.5 shrink-0 text-link" aria-hidden />
      <span className="truncate">
        Moved here: <q>{gistOf(edit)}</q>
      </span>
    </button>
  )
}

/** These show the block's current and proposed text themselves. */
const OVER: ReadonlySet<EditData['op']> = new Set(['replace', 'delete', 'move'])

/** True if a proposed edit shows the block's text in place of the block. */
export function useCovered(blockId: string): boolean {
  const reviewing = useReviewing()
  const over = useReviewed(
    (review) =>
      review
        .list()
        .places.get(blockId)
        ?.some(({ op }) => OVER.has(op)) ?? false,
  )
  return reviewing && over
}

function Hint({ edits }: { edits: readonly EditData[] }) {
  const { openPanel } = useDocumentRoom()
  const review = useReview()
  return (
    <button
      data-review-hint
      className="mt-1 inline-flex max-w-full items-center gap-1.5 rounded-full border border-line bg-raised px-2 py-0.5 text-[12px] text-muted hover:border-line-strong hover:text-fg [&_svg]:size-3.5 [&_svg]:text-link"
      onClick={(event) => {
        event.preventDefault()
        review.look(edits[0]?.id ?? null)
        openPanel('review')
      }}
    >
      <GitPullRequestArrow aria-hidden />
      {edits.length === 1 && edits[0] !== undefined ? HINTS[edits[0].op] : plural(edits.length, 'proposed edit')}
    </button>
  )
}

const HINTS: Record<EditData['op'], string> = {
  replace: 'Proposed change',
  insert: 'Proposed new text',
  delete: 'Proposed removal',
  move: 'Proposed move',
  insert_section: 'Proposed new section',
}

export const ICONS: Record<EditData['op'], typeof Plus> = {
  replace: PencilLine,
  insert: Plus,
  delete: Minus,
  move: ArrowRight,
  insert_section: Plus,
}

const InlineEdit = memo(function InlineEdit({ edit }: { edit: EditData }) {
  const review = useReview()
  const current = useIsCurrent(edit.id)
  const narrow = useNarrow()
  const { standing, editing } = useEditing(edit)
  const number = useReviewed((one) => numberOf(one.list(), edit.id))
  const total = useReviewed((one) => one.list().items.length)
  const Icon = ICONS[edit.op]
  const resolve = () => review.resolve(edit.id)
  return (
    <div
      role="group"
      data-review-edit={edit.id}
      aria-label={`Proposed edit ${number} of ${total}: ${nameOf(edit)}`}
      aria-current={current || undefined}
      onClick={() => review.look(edit.id)}
      className={cn(
        'rounded-xl border bg-raised px-3.5 py-2.5',
        current
          ? 'border-accent shadow-[0_0_0_3px_var(--accent-soft)]'
          : 'cursor-pointer border-line hover:border-line-strong',
      )}
    >
      <p className="mb-1.5 flex items-center gap-1.5 text-xs text-faint [&_svg]:size-3.5">
        <Icon aria-hidden />
        <span className="font-medium">{nameOf(edit)}</span>
        <span className="ml-auto flex items-center gap-1 tabular-nums">
          <Bot aria-hidden />
          {number} of {total}
        </span>
      </p>
      {editing && !narrow ? (
        <EditEditor edit={edit} standing={standing} />
      ) : (
        <>
          <EditBody edit={edit} standing={standing} className="review-text" />
          <div className="mt-2 space-y-2 empty:hidden">
            <StandingNote standing={standing} resolve={resolve} />
            {current && <HeldNote edit={edit} />}
            {current && <RefusedNote edit={edit} />}
            {current && <EditActions edit={edit} standing={standing} resolve={resolve} />}
          </div>
        </>
      )}
    </div>
  )
})
