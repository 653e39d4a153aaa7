import { useState, type ReactNode } from 'react'
import type { CommentData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { useStored } from '@/lib/local-storage'
import { useDocumentRoom } from '../document-context'
import { MentionArea } from '@/features/mentions/mention-area'
import { mentionedIn, AGENT } from '@/features/mentions/mention-text'
import { useMentionable } from '@/features/mentions/people'

interface ReplyProps {
  /** The comment that is answered. */
  comment: CommentData
  /** The form is open; while closed, only its buttons are shown. */
  open: boolean
  /** A further action next to the reply button. */
  give: ReactNode
}

/** The reply form. Its draft is kept until it is sent. */
export function Reply({ comment, open, give }: ReplyProps) {
  const { store } = useDocumentRoom()
  const people = useMentionable(comment.project_id)
  const [text, setText] = useStored(`outlast.draft.reply.${comment.id}`)
  const [error, setError] = useState<Error | null>(null)
  const [sending, setSending] = useState(false)
  const body = text.trim()
  if (!open) return null
  const send = async () => {
    if (body === '' || sending) return
    setSending(true)
    setError(null)
    try {
      const mentions = mentionedIn(body, people).filter((id) => id !== AGENT.id)
      const { id, document_id } = comment
      const answer = { body, mentions, parent_id: id }
      const made = await once(`comment ${document_id} ${JSON.stringify(answer)}`, (key) =>
        client.documents.comment(document_id, answer, key),
      )
      store.tellComment(made)
      setText('')
    } catch (reason) {
      setError(reason as Error)
    } finally {
      setSending(false)
    }
  }
  return (
    <div className="space-y-2">
      <MentionArea
        label="Reply"
        placeholder="Reply, or use @ to mention someone"
        value={text}
        people={people}
        onChange={setText}
        onSend={() => void send()}
      />
      {error !== null && <Problem error={error} />}
      <div className="flex flex-wrap items-center justify-end gap-1.5">
        {give}
        <span className="flex-1" />
        {body !== '' && (
          <>
            <Button size="sm" look="ghost" onClick={() => setText('')}>
              Cancel
            </Button>
            <Button size="sm" look="primary" busy={sending} onClick={() => void send()}>
              Reply
            </Button>
          </>
        )}
      </div>
    </div>
  )
}
