import { CheckCheck } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { useReview, useReviewList } from './use-review'

/** From this number on, accepting asks for confirmation. */
const ASKS_FROM = 20

type DecideAll = ReturnType<typeof useDecideAll>

/** Decides about all open edits at once. Rejecting always asks for confirmation, accepting only if there are many. */
export function useDecideAll() {
  const review = useReview()
  const { open } = useReviewList()
  const [asking, setAsking] = useState<'accept' | 'reject' | null>(null)
  const decide = (decision: 'accept' | 'reject') => void review.decideAll(decision)
  return {
    open,
    asking,
    accept: () => open > 0 && (open > ASKS_FROM ? setAsking('accept') : decide('accept')),
    reject: () => setAsking('reject'),
    confirm: () => asking !== null && decide(asking),
    cancel: () => setAsking(null),
  }
}

export const DecideAllButtons = ({ all }: { all: DecideAll }) => (
  <div className="flex items-center gap-1.5 border-b border-line px-4 pb-2.5">
    <Button size="sm" className="max-md:h-10" onClick={all.accept}>
      <CheckCheck aria-hidden />
      Accept all {all.open}
    </Button>
    <Button size="sm" look="ghost" className="max-md:h-10" onClick={all.reject}>
      Reject all
    </Button>
  </div>
)

export const DecideAllQuestion = ({ all: { asking, open, confirm, cancel } }: { all: DecideAll }) => (
  <Confirm
    open={asking !== null}
    onClose={cancel}
    title={asking === 'accept' ? `Accept all ${open} edits?` : `Reject all ${open} edits?`}
    action={asking === 'accept' ? 'Accept all' : 'Reject all'}
    onConfirm={confirm}
  >
    {asking === 'accept'
      ? 'Each proposal becomes a version of the document. You can restore an earlier version from the history.'
      : 'The text stays as it is. You can still read rejected edits here and in the conversation.'}
  </Confirm>
)
