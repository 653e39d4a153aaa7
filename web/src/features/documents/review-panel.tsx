import { GitPullRequestArrow } from 'lucide-react'
import { Empty } from '@/components/states'
import type { PanelProps } from './document-context'

/** What agents propose to change, waiting for a decision. */
export function ReviewPanel(_: PanelProps) {
  return (
    <Empty icon={<GitPullRequestArrow />} title="Nothing to review">
      When an agent proposes edits, you decide here which of them are made.
    </Empty>
  )
}
