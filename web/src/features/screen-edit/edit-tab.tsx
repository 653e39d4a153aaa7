import { MousePointerSquareDashed } from 'lucide-react'
import type { ScreenData } from '@outlast/sdk'
import { Empty } from '@/components/states'

/** Change how the screen looks by hand: pick an element in the frame, then its colours, spacing, type or picture. */
export function EditTab({ screen }: { screen: ScreenData }) {
  return (
    <Empty icon={<MousePointerSquareDashed />} title="Edit by hand" className="pt-[12vh]">
      Pick an element of {screen.title} in the frame to change how it looks.
    </Empty>
  )
}
