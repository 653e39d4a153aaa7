import { MessageSquareText } from 'lucide-react'
import { Empty } from '@/components/states'
import type { PanelProps } from './document-context'

/** The remarks on the document. */
export function CommentsPanel(_: PanelProps) {
  return (
    <Empty icon={<MessageSquareText />} title="No comments yet">
      Select text in the document to comment on it.
    </Empty>
  )
}
