import { History } from 'lucide-react'
import { Empty } from '@/components/states'
import type { PanelProps } from './document-context'

/** What the document went through, newest first; any version can be looked at, compared and brought back. */
export function HistoryPanel(_: PanelProps) {
  return (
    <Empty icon={<History />} title="No versions yet">
      Each change leaves one.
    </Empty>
  )
}
