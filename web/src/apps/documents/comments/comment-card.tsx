import { AtSign, Bot, CornerDownRight, Unlink } from 'lucide-react'
import { memo, useState } from 'react'
import type { CommentData, Thread } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Since } from '@/components/time'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { useStored } from '@/lib/local-storage'
import { useDocumentRoom } from '../document-context'
import { useMe } from '@/features/session/session-gate'
import { AgentAnswer } from './agent-answer'
import { useCommentActions } from './comment-actions'
import { Answer, CommentBody } from './comment-body'
import { LinkedSections, LinkPicker } from './linked-sections'
import { Reply } from './reply'
import type { CommentThread } from './comment-threads'

interface CommentCardProps {
  talk: CommentThread
  /** The comment's conversation, if it was assigned to the agent. */
  thread: Thread | undefined
  chosen: boolean
  /** The commented part in words, if the text is not next to the card. */
  place: string | null
  onChoose: (comment: CommentData) => void
}

/** A comment with its replies and all of its actions. */
export const CommentCard = memo(function CommentCard({ talk, thread, chosen, place, onChoose }: CommentCardProps) {
  const { mayEdit, openPanel } = useDocumentRoom()
  const { root, answers } = talk
  const actions = useCommentActions(root)
  const [started] = useStored(`outlast.draft.reply.${root.id}`)
  const [linking, setLinking] = useState(false)
  const open = root.status === 'open'
  const given = root.assigned_to === 'agent'
  const converse = (threadId: string) => openPanel('thread', threadId)
  return (
    <article
      aria-label={`Comment by ${root.by_name ?? 'the agent'}`}
      data-comment-card={root.id}
      data-status={root.status}
      aria-current={chosen || undefined}
      tabIndex={0}
      onKeyDown={({ key, target, currentTarget }) => key === 'Enter' && target === currentTarget && onChoose(root)}
      onClick={({ target }) => chosen || isForItself(target) || onChoose(root)}
      className={cn(
        'scroll-my-3 space-y-2.5 rounded-xl border bg-raised p-3 transition-shadow outline-none',
        chosen ? 'border-line-strong shadow-pop' : 'border-line hover:border-line-strong',
        !open && 'opacity-75',
      )}
    >
      <About comment={root} place={place} />
      <CommentBody
        comment={root}
        mayEdit={mayEdit}
        actions={actions}
        short={!chosen}
        onLink={() => (setLinking(true), onChoose(root))}
      />
      {linking && chosen ? (
        <LinkPicker comment={root} onChange={actions.link} onDone={() => setLinking(false)} />
      ) : (
        <LinkedSections comment={root} />
      )}
      <AssignedTo comment={root} />
      {!chosen && answers.length > 1 && (
        <button className="text-xs text-link hover:underline pointer-coarse:py-1.5" onClick={() => onChoose(root)}>
          {plural(answers.length - 1, 'earlier reply')}
        </button>
      )}
      {answers.slice(chosen ? 0 : -1).map((answer) => (
        <Answer key={answer.id} comment={answer} mayEdit={mayEdit && open} short={!chosen} />
      ))}
      {thread !== undefined && <AgentAnswer thread={thread} short={!chosen} onOpen={() => converse(thread.id)} />}
      {!open && (
        <p className="text-xs text-muted">
          Resolved by {root.resolved_by_name ?? 'a former member'}
          {root.resolved_at !== null && (
            <>
              {' '}
              <Since iso={root.resolved_at} />
            </>
          )}
        </p>
      )}
      {mayEdit && open && (
        <Reply
          comment={root}
          open={chosen || started !== ''}
          give={
            !given && (
              <Button size="sm" busy={actions.busy === 'assign'} onClick={() => actions.assign('agent', converse)}>
                {actions.busy !== 'assign' && <Bot />}
                Assign to agent
              </Button>
            )
          }
        />
      )}
    </article>
  )
})

/** Clicks on buttons in a card do not choose the card. */
const isForItself = (target: EventTarget): boolean =>
  target instanceof Element && target.closest('button, a, [role=menuitem]') !== null

/** The commented words as quoted, or a note that they were deleted. */
function About({ comment: { quote, orphaned }, place }: { comment: CommentData; place: string | null }) {
  if (quote === null && place === null && !orphaned) return null
  return (
    <div className="space-y-1">
      {orphaned && (
        <p className="flex items-center gap-1.5 text-xs text-warn">
          <Unlink className="size-3" aria-hidden />
          {quote === null ? 'The original text was deleted' : 'This text was deleted'}
        </p>
      )}
      {place !== null && !orphaned && <p className="truncate text-xs text-faint">{place}</p>}
      {quote !== null && (
        <blockquote
          data-quote
          className={cn(
            'line-clamp-2 border-l-2 pl-2 text-[13px] text-muted [overflow-wrap:anywhere]',
            orphaned ? 'border-line-strong line-through decoration-faint' : 'border-amber',
          )}
        >
          {quote.text}
        </blockquote>
      )}
    </div>
  )
}

function AssignedTo({ comment: { assigned_to, assigned_name } }: { comment: CommentData }) {
  const me = useMe()
  if (assigned_to === null) return null
  const agent = assigned_to === 'agent'
  const Icon = agent ? CornerDownRight : AtSign
  return (
    <p data-assigned={assigned_to} className="flex items-center gap-1.5 text-xs text-muted">
      <Icon className="size-3 text-faint" aria-hidden />
      {agent
        ? 'Assigned to the agent'
        : `Assigned to ${assigned_to === me.user.id ? 'you' : (assigned_name ?? 'someone')}`}
    </p>
  )
}
