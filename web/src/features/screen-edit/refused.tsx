import { Bot, Lock } from 'lucide-react'
import type { EditRefusal } from '@outlast/sdk'
import { Button } from '@/components/button'
import { useCanvas } from '../canvas/canvas-context'
import { useEditing } from './edit-context'
import { askPrompt, wishesOf } from './prompts'

/** Why something is not edited by hand, and the way to whoever can. */
export function Refused({ refusal }: { refusal: EditRefusal }) {
  const { screen, edit, pending } = useEditing()
  const { actions } = useCanvas()
  const { source, element, aim } = edit
  const mark = (aim === 'use' ? element?.use : element?.loc) ?? ''
  const ask = () =>
    actions.askAgent(
      screen,
      askPrompt(source?.tag ?? element?.tag ?? 'element', mark, refusal, pending === null ? [] : wishesOf(pending)),
    )
  return (
    <div
      role="note"
      data-refused={refusal.code}
      className="rounded-xl border border-warn-line bg-warn-soft px-3 py-2.5"
    >
      <p className="flex gap-2 text-[13px]">
        <Lock className="mt-0.5 size-3.5 shrink-0 text-warn" aria-hidden />
        {refusal.reason}
      </p>
      <Button size="sm" className="mt-2" onClick={ask}>
        <Bot />
        Ask the agent
      </Button>
    </div>
  )
}
