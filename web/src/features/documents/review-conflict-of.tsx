import { useEffect } from 'react'
import type { EditData } from '@outlast/sdk'
import { ConflictDialog } from './review-conflict'
import { useStanding } from './review-merge'
import { useReview, useReviewed } from './use-review'

interface ConflictOfProps {
  editId: string
  onClose: () => void
}

/** Brings the conflict of an edit to an end; without one it is simply accepted. */
export function ConflictOf({ editId, onClose }: ConflictOfProps) {
  const edit = useReviewed((one) => one.edit(editId))
  return edit === null ? null : <Resolving edit={edit} onClose={onClose} />
}

function Resolving({ edit, onClose }: { edit: EditData; onClose: () => void }) {
  const review = useReview()
  const standing = useStanding(edit)
  const { kind } = standing
  useEffect(() => {
    if (kind === 'asking' || (kind === 'conflict' && edit.op !== 'delete')) return
    onClose()
    if (kind !== 'conflict') void review.decide(edit, 'accept')
  }, [kind, edit, review, onClose])
  if (standing.kind !== 'conflict' || edit.op === 'delete') return null
  return <ConflictDialog edit={edit} standing={standing} onClose={onClose} />
}
