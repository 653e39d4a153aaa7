import { Bot, MessageSquarePlus } from 'lucide-react'
import { MenuItem } from '@/components/menu'
import { useDocumentRoom } from '../document-context'
import { setAbout, type About } from './comment-draft'

/** In the menu of a block or section: comment on it, or ask the agent about it. */
export function AboutItems({ section_id, block_id }: Omit<About, 'quote'>) {
  const { documentId, openPanel } = useDocumentRoom()
  const about: About = { section_id, block_id, quote: null }
  return (
    <>
      {/* After the menu has returned the focus, or the box would lose it at once. */}
      <MenuItem onSelect={() => setTimeout(() => (setAbout('comment', documentId, about), openPanel('comments')), 50)}>
        <MessageSquarePlus />
        Comment
      </MenuItem>
      <MenuItem onSelect={() => setTimeout(() => (setAbout('ask', documentId, about), openPanel('thread')), 50)}>
        <Bot />
        Ask the agent
      </MenuItem>
    </>
  )
}
