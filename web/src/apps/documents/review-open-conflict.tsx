import { useEffect, useState } from 'react'
import { ConflictDialog } from './review-conflict-dialog'
import { useNow } from './review-facts'
import { useStanding } from './review-standing'
import { begun, clashNow, lookedAgain, type Work } from './review-seen'
import type { Resolving } from './review-state'
import { useReview, useReviewed } from './use-review'

/** The conflict dialog, once a person has opened it. */
export function OpenConflict() {
  const resolving = useReviewed((one) => one.get().resolving)
  return resolving === null ? null : <Resolve key={resolving.edit.id} resolving={resolving} />
}

/** The dialog keeps its content until the edit is decided or the dialog is closed, even if others change the text
 * meanwhile. */
function Resolve({ resolving: { edit, accepts, work: known } }: { resolving: Resolving }) {
  const review = useReview()
  const standing = useStanding(edit)
  const now = useNow(edit)
  const decided = useReviewed((one) => one.edit(edit.id)?.state !== 'open')
  const [work, setWork] = useState(known)
  const clash = standing.kind === 'conflict' && edit.op !== 'delete' ? clashNow(edit, standing) : null
  if (work === null && clash !== null) setWork(begun(clash))
  const settled = work === null && clash === null && standing.kind !== 'asking'
  const accepting = accepts && standing.kind !== 'conflict'
  useEffect(() => {
    if (!settled) return
    review.stopResolving()
    if (accepting) void review.decide(edit, 'accept')
  }, [settled, accepting, edit, review])
  if (work === null) return null
  const newest = clashNow(edit, standing)
  const change = (next: Work) => {
    setWork(next)
    review.keepWork(edit.id, next)
  }
  return (
    <ConflictDialog
      edit={edit}
      work={work}
      now={now}
      decided={decided}
      change={change}
      {...(newest !== null && { lookAgain: () => change(lookedAgain(work, newest)) })}
      onClose={review.stopResolving}
    />
  )
}
