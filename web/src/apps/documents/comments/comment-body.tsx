import { useState } from 'react'
import type { CommentData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { cn } from '@/lib/cn'
import { useFormDraft } from '@/lib/form-draft'
import { useCommentActions } from './comment-actions'
import { CommentHead } from './comment-head'
import { MentionArea } from '@/features/mentions/mention-area'
import { useMentionable } from '@/features/mentions/people'
import { TextWithMentions } from '@/features/mentions/text-with-mentions'

interface CommentBodyProps {
  comment: CommentData
  mayEdit: boolean
  actions: ReturnType<typeof useCommentActions>
  /** Show only the beginning. */
  short: boolean
  onLink?: () => void
}

/** Author and text of a comment, edited in place. */
export function CommentBody({ comment, mayEdit, actions, short, onLink }: CommentBodyProps) {
  const people = useMentionable(comment.project_id)
  const [editing, setEditing] = useState(false)
  const [typed, setTyped] = useFormDraft(`comment ${comment.id}`) // Escape closes the box and keeps its text
  const text = typed ?? comment.body
  const done = () => (setTyped(null), setEditing(false))
  const save = () => {
    if (text.trim() !== '' && text.trim() !== comment.body) actions.rewrite(text.trim())
    done()
  }
  return (
    <div className="space-y-1.5">
      <CommentHead
        comment={comment}
        mayEdit={mayEdit}
        actions={actions}
        onEdit={() => setEditing(true)}
        onLink={onLink}
      />
      {!editing ? (
        <div className={cn(short && 'line-clamp-5')}>
          <TextWithMentions text={comment.body} people={people} />
        </div>
      ) : (
        <>
          <MentionArea
            label="Edit comment"
            placeholder=""
            value={text}
            people={people}
            onChange={setTyped}
            onSend={save}
            onEscape={() => setEditing(false)}
            autoFocus
          />
          <div className="flex justify-end gap-1.5">
            <Button size="sm" look="ghost" onClick={done}>
              Cancel
            </Button>
            <Button size="sm" look="primary" disabled={text.trim() === ''} onClick={save}>
              Save
            </Button>
          </div>
        </>
      )}
    </div>
  )
}

/** A reply, below the comment that it answers. */
export function Answer({ comment, mayEdit, short }: Omit<CommentBodyProps, 'actions' | 'onLink'>) {
  const actions = useCommentActions(comment)
  return (
    <div data-answer={comment.id} className="border-t border-line pt-2.5">
      <CommentBody comment={comment} mayEdit={mayEdit} actions={actions} short={short} />
    </div>
  )
}
