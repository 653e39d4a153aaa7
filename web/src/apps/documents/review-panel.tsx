import { ChevronDown, ChevronUp, CircleHelp, GitPullRequestArrow, PartyPopper, Undo2 } from 'lucide-react'
import { useDeferredValue, useEffect, useState, type KeyboardEvent } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { IconButton } from '@/components/button'
import { Empty } from '@/components/placeholders'
import { useNarrow } from '@/lib/use-narrow'
import { useDocumentRoom, type PanelProps } from './document-context'
import { DecideAllButtons, DecideAllQuestion, useDecideAll } from './review-all'
import { ReviewBar } from './review-bar'
import { OpenConflict } from './review-open-conflict'
import { EditRow, SupersededRow } from './review-edit-row'
import { ReviewHelp } from './review-help'
import { takeBack, useReviewKeys } from './review-keys'
import { ReviewScopeMenu } from './review-scope'
import { numberOf, type ReviewItem } from './review-list'
import { useCurrentEditInView } from './review-scroll'
import { useReview, useReviewed, useReviewList } from './use-review'

/** Proposed edits in document order, to step through and decide. */
export function ReviewPanel({ item }: PanelProps) {
  const { store, mayEdit } = useDocumentRoom()
  const review = useReview()
  const list = useReviewList()
  const narrow = useNarrow()
  const [help, setHelp] = useState(false)
  useAsked(item)
  useMovingOn()
  useCurrentEditInView()
  const all = useDecideAll()
  useReviewKeys({ review, acceptAll: all.accept, help: () => setHelp(true) })
  const said = useReviewed((one) => one.get().said)
  // The rest of a long list may render a moment after the text; a short list never lags.
  const later = useDeferredValue(list.items, NO_ITEMS)
  const items = list.items.length <= LONG ? list.items : later.length === 0 ? list.items.slice(0, FIRST) : later
  const loading = useSelected(store, (snapshot) => snapshot.loading)
  const step = (event: KeyboardEvent<HTMLElement>) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : null
    if (by === null || (event.target instanceof HTMLElement && /^(TEXTAREA|INPUT|SELECT)$/.test(event.target.tagName)))
      return
    event.preventDefault()
    review.step(by)
  }
  if (list.items.length + list.superseded.length === 0)
    return loading ? null : (
      <>
        <ReviewScopeMenu />
        <Empty icon={<GitPullRequestArrow />} title="Nothing to review">
          When an agent proposes edits, you review them here. Assign a comment to the agent, or ask it in the Agent tab.
        </Empty>
      </>
    )
  return (
    <section aria-label="Review" className="flex min-h-0 flex-1 flex-col" onKeyDown={step}>
      <Head help={() => setHelp(true)} />
      {mayEdit && list.open > 0 && <DecideAllButtons all={all} />}
      <ol className="min-h-0 flex-1 overflow-y-auto" aria-label="Proposed edits">
        {list.open === 0 && <Done />}
        {items.map(({ edit, proposal }) => (
          <EditRow key={edit.id} edit={edit} proposal={proposal} resolve={review.resolve} />
        ))}
        {list.superseded.length > 0 && <li className="px-4 pt-4 pb-1 text-xs font-medium text-faint">Superseded</li>}
        {list.superseded.map(({ edit }) => (
          <SupersededRow key={edit.id} edit={edit} />
        ))}
      </ol>
      {narrow && <ReviewBar resolve={review.resolve} />}
      <p aria-live="polite" className="sr-only">
        {said}
      </p>
      <OpenConflict />
      <ReviewHelp open={help} onClose={() => setHelp(false)} />
      <DecideAllQuestion all={all} />
    </section>
  )
}

const LONG = 60
const FIRST = 20
const NO_ITEMS: readonly ReviewItem[] = []

function Head({ help }: { help: () => void }) {
  const review = useReview()
  const list = useReviewList()
  const current = useReviewed((one) => one.get().current)
  const undo = useReviewed((one) => one.get().undo)
  const undoing = useReviewed((one) => one.get().undoing)
  const total = list.items.length
  const at = numberOf(list, current)
  const done = total - list.open
  return (
    <header className="px-4 pt-3 pb-2.5">
      <ReviewScopeMenu />
      <div className="flex items-center gap-1">
        <p className="flex-1 text-[13px]" data-review-progress>
          {at > 0 ? (
            <>
              <span className="font-semibold tabular-nums">{at}</span> of <span className="tabular-nums">{total}</span>
            </>
          ) : (
            <span className="font-semibold">{total === 1 ? '1 edit' : `${total} edits`}</span>
          )}
          <span className="ml-2 text-xs text-faint tabular-nums">
            {list.open === 0 ? 'all decided' : `${done} decided, ${list.open} left`}
          </span>
        </p>
        <IconButton
          label="Previous edit"
          keys="K"
          size="icon-sm"
          disabled={list.open === 0}
          onClick={() => review.step(-1)}
        >
          <ChevronUp />
        </IconButton>
        <IconButton label="Next edit" keys="J" size="icon-sm" disabled={list.open === 0} onClick={() => review.step(1)}>
          <ChevronDown />
        </IconButton>
        <IconButton
          label={undo?.label ?? 'Nothing to reopen'}
          keys="Z"
          size="icon-sm"
          disabled={undo === null}
          busy={undoing}
          onClick={() => void takeBack(review)}
        >
          {!undoing && <Undo2 />}
        </IconButton>
        <IconButton label="Keyboard shortcuts" keys="?" size="icon-sm" className="max-md:hidden" onClick={help}>
          <CircleHelp />
        </IconButton>
      </div>
      <div
        role="progressbar"
        aria-label="Decided"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
        className="mt-2 h-1 overflow-hidden rounded-full bg-active"
      >
        <div
          className="h-full rounded-full bg-accent transition-[width]"
          style={{ width: `${total === 0 ? 0 : (done / total) * 100}%` }}
        />
      </div>
    </header>
  )
}

const Done = () => (
  <li className="flex items-center gap-2.5 border-b border-line px-4 py-4 text-[13px]">
    <PartyPopper className="size-4 shrink-0 text-ok" aria-hidden />
    Review complete. The document contains the edits you accepted.
  </li>
)

/** Selects the item that the panel was opened for: a proposal, or one of its edits. */
function useAsked(item: string | null): void {
  const { store } = useDocumentRoom()
  const review = useReview()
  useEffect(() => {
    if (item === null) return
    if (!item.startsWith('prp_')) return review.look(item)
    void store.ensureProposal(item).then(
      () => review.open(item),
      () => undefined,
    )
  }, [item, store, review])
}

/** While any edit is open, one is selected. If another user decides the selected edit, the selection moves on. */
function useMovingOn(): void {
  const review = useReview()
  const list = useReviewList()
  const current = useReviewed((one) => one.get().current)
  useEffect(() => {
    if (current === null ? list.open > 0 : false) review.step(1)
  }, [review, list, current])
}
