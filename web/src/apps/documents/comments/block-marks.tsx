import { MessageSquarePlus, MessageSquareText } from 'lucide-react'
import { useMemo, type ComponentProps } from 'react'
import type { Markdown } from '@/components/markdown'
import { plural } from '@/lib/format'
import { useDocumentRoom, usePanel } from '../document-context'
import { setAbout, useDraftQuote, type About } from './comment-draft'
import { markQuotes, type MarkedQuote } from './comment-marks'
import { useThreadsAt } from './comment-store'
import type { CommentThread } from './comment-threads'
import './comments.css'

type Plugins = NonNullable<ComponentProps<typeof Markdown>['rehype']>

const NONE: Plugins = []

/** Marks on the commented words of a block; the list stays the same object while nothing changes. */
export function useCommentMarks(blockId: string): Plugins {
  const { documentId } = useDocumentRoom()
  const talks = useThreadsAt(blockId)
  const draft = useDraftQuote(documentId, blockId)
  return useMemo(() => {
    const quotes = talks.flatMap(({ root }): MarkedQuote[] =>
      root.quote === null ? [] : [{ id: root.id, quote: root.quote }],
    )
    if (draft !== null) quotes.push({ id: 'draft', quote: draft })
    return quotes.length === 0 ? NONE : [markQuotes(quotes)]
  }, [talks, draft])
}

interface CommentCountProps {
  /** The block's or section's id. */
  id: string
  /** The part of the document that a new comment here is about. */
  about: About
}

/** The number of open comments on a block or section, with a link to them. Without comments: a button for the first. */
export function CommentCount({ id, about }: CommentCountProps) {
  const { documentId, mayEdit, openPanel } = useDocumentRoom()
  const talks = useThreadsAt(id)
  if (talks.length > 0) return <Count id={id} talks={talks} />
  if (!mayEdit) return null
  const write = () => {
    setAbout('comment', documentId, about)
    openPanel('comments')
  }
  return (
    <button aria-label="Comment here" title="Comment here" data-comment-here className="comment-here" onClick={write}>
      <MessageSquarePlus className="size-3.5" aria-hidden />
    </button>
  )
}

/** Each click shows the next comment. */
function Count({ id, talks }: { id: string; talks: readonly CommentThread[] }) {
  const { openPanel } = useDocumentRoom()
  const { item } = usePanel()
  const here = talks.findIndex(({ root }) => root.id === item)
  const next = talks[(here + 1) % talks.length]
  const words = plural(talks.length, 'comment')
  return (
    <button
      data-comments-at={id}
      aria-label={words}
      title={words}
      className="comment-count"
      onClick={() => openPanel('comments', next?.root.id ?? null)}
    >
      <MessageSquareText className="size-3.5" aria-hidden />
      {talks.length}
    </button>
  )
}
