/** Anchors of a document's conversations. Pure. */
import type { BlockData, CommentData, Thread } from '@outlast/sdk'
import type { About } from './comments/comment-draft'
import { placeName } from './comments/place-name'
import type { Outline } from './comments/comment-threads'

type Blocks = Readonly<Record<string, Pick<BlockData, 'markdown' | 'section_id'>>>

/** The anchor of a new conversation about a part. */
export function anchorOf(documentId: string, about: About, blocks: Blocks): Record<string, unknown> {
  const { section_id, block_id, quote } = about
  if (block_id !== null) {
    const block = blocks[block_id]
    return {
      type: 'selection',
      document_id: documentId,
      section_id: section_id ?? block?.section_id ?? null,
      block_id,
      text: quote?.text ?? block?.markdown ?? '',
    }
  }
  return section_id === null
    ? { type: 'document', id: documentId }
    : { type: 'section', id: section_id, document_id: documentId }
}

export type AnchorKind = 'document' | 'section' | 'comment' | 'selection'

/** The subject of a conversation as it is shown: `text` in words, and its present place in the document. */
export interface ShownAnchor {
  kind: AnchorKind
  text: string
  section_id: string | null
  block_id: string | null
  comment_id: string | null
  /** The text that the conversation was about was deleted. */
  gone: boolean
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export function shownAnchor(
  { anchor }: Pick<Thread, 'anchor'>,
  sections: readonly Outline[],
  comments: readonly Pick<CommentData, 'id' | 'body' | 'quote' | 'section_id' | 'block_id'>[],
): ShownAnchor {
  const none = { section_id: null, block_id: null, comment_id: null, gone: false }
  const id = text(anchor?.['id'])
  switch (anchor?.['type']) {
    case 'section': {
      const gone = !sections.some((section) => section.id === id)
      return {
        ...none,
        kind: 'section',
        text: placeName(sections, { section_id: id, block_id: null }),
        section_id: id,
        gone,
      }
    }
    case 'comment': {
      const comment = comments.find((one) => one.id === id)
      if (comment === undefined) return { ...none, kind: 'comment', text: 'Deleted comment', gone: true }
      const { section_id, block_id, quote } = comment
      // The comment's text is the title of the conversation.
      const on = quote?.text ?? placeName(sections, { section_id, block_id })
      return { ...none, kind: 'comment', text: on, section_id, block_id, comment_id: comment.id }
    }
    case 'selection': {
      const block_id = text(anchor['block_id'])
      const section_id = text(anchor['section_id'])
      const gone = !sections.some(({ blocks }) => block_id !== null && blocks.includes(block_id))
      return { ...none, kind: 'selection', text: text(anchor['text']) ?? '', section_id, block_id, gone }
    }
    default:
      return { ...none, kind: 'document', text: 'Whole document' }
  }
}
