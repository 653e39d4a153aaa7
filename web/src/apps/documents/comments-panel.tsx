import { CommentsView } from './comments/comments-view'
import type { PanelProps } from './document-context'

/** The comments on the document. */
export function CommentsPanel({ item }: PanelProps) {
  return <CommentsView item={item} />
}
