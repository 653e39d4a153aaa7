import { Bot } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { useStored } from '@/lib/local-storage'
import { useDocumentRoom } from '../document-context'
import { draftKey, type About } from './comment-draft'
import { MentionArea } from '@/features/mentions/mention-area'
import { AGENT, mentionedIn } from '@/features/mentions/mention-text'
import { useMentionable } from '@/features/mentions/people'

interface NewCommentProps {
  about: About
  /** The commented part in words; null if the text is next to it. */
  place: string | null
  /** Called when it was saved (with its id) or cancelled. */
  onDone: (commentId: string | null) => void
}

/** The form for a new comment. */
export function NewComment({ about, place, onDone }: NewCommentProps) {
  const { documentId, projectId, store, openPanel } = useDocumentRoom()
  const people = useMentionable(projectId)
  const [text, setText] = useStored(draftKey('comment', documentId))
  const [error, setError] = useState<Error | null>(null)
  const [sending, setSending] = useState<'plain' | 'agent' | null>(null)
  const body = text.trim()
  const send = async (give: boolean) => {
    if (body === '' || sending !== null) return
    setSending(give ? 'agent' : 'plain')
    setError(null)
    try {
      const named = mentionedIn(body, people)
      const mentions = named.filter((id) => id !== AGENT.id)
      const toAgent = give || named.includes(AGENT.id)
      const comment = { ...about, body, mentions, ...(toAgent && { assign: AGENT.id }) }
      const made = await once(`comment ${documentId} ${JSON.stringify(comment)}`, (key) =>
        client.documents.comment(documentId, comment, key),
      )
      store.tellComment(made)
      setText('')
      onDone(made.id)
      if (give && made.thread_id !== null) openPanel('thread', made.thread_id)
    } catch (reason) {
      setError(reason as Error)
      setSending(null)
    }
  }
  return (
    <section
      aria-label="New comment"
      data-new-comment
      className="space-y-2 rounded-xl border border-accent/60 bg-raised p-3 shadow-pop"
    >
      {place !== null && <p className="truncate text-xs text-faint">{place}</p>}
      {about.quote !== null && (
        <blockquote className="line-clamp-2 border-l-2 border-amber pl-2 text-[13px] text-muted [overflow-wrap:anywhere]">
          {about.quote.text}
        </blockquote>
      )}
      <MentionArea
        label="Comment"
        placeholder="Write a comment. Use @ to mention someone"
        value={text}
        people={people}
        onChange={setText}
        onSend={() => void send(false)}
        onEscape={() => onDone(null)}
        className="min-h-15"
        autoFocus
      />
      {error !== null && <Problem error={error} />}
      <div className="flex flex-wrap items-center justify-end gap-1.5">
        <Button size="sm" disabled={body === ''} busy={sending === 'agent'} onClick={() => void send(true)}>
          {sending !== 'agent' && <Bot />}
          Assign to agent
        </Button>
        <span className="flex-1" />
        <Button size="sm" look="ghost" onClick={() => (setText(''), onDone(null))}>
          Cancel
        </Button>
        <Button
          size="sm"
          look="primary"
          disabled={body === ''}
          busy={sending === 'plain'}
          onClick={() => void send(false)}
        >
          Comment
        </Button>
      </div>
    </section>
  )
}
