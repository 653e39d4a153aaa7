import { Bot } from 'lucide-react'
import { Empty } from '@/components/states'
import type { PanelProps } from './document-context'

/** The conversation with the agent: the document's own, or the one that `item` names. */
export function ThreadPanel(_: PanelProps) {
  return (
    <Empty icon={<Bot />} title="Ask the agent">
      It reads the document and proposes edits, which you accept or reject.
    </Empty>
  )
}
