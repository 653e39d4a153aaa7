import { EditActions, useEditing } from './review-actions'
import { useReview, useReviewed } from './use-review'
import type { EditData } from '@outlast/sdk'

/** On a phone: the actions for the current edit, at the bottom of the screen. */
export function ReviewBar({ resolve }: { resolve: (editId: string) => void }) {
  const review = useReview()
  const edit = useReviewed((one) => one.edit(one.get().current))
  const editing = useReviewed((one) => one.get().editing)
  if (edit === null || edit.state !== 'open' || editing === edit.id) return null
  return <Bar key={edit.id} edit={edit} resolve={() => (review.look(edit.id), resolve(edit.id))} />
}

function Bar({ edit, resolve }: { edit: EditData; resolve: () => void }) {
  const { standing } = useEditing(edit)
  return (
    <div
      data-review-bar
      className="shrink-0 border-t border-line bg-raised px-3 pt-2 pb-[max(0.5rem,env(safe-area-inset-bottom))]"
    >
      <EditActions edit={edit} standing={standing} resolve={resolve} />
    </div>
  )
}
