import { Bot, Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import type { EditRefusal } from '@outlast/sdk'
import { Button } from '@/components/button'
import { useAskAgent } from './ask-agent'
import { useEditing } from './edit-context'

/** Why an element cannot be edited by hand, and a button to ask the agent. */
export function ElementRefusal({ refusal, children }: { refusal: EditRefusal; children?: ReactNode }) {
  const { edit, pending } = useEditing()
  const askAgent = useAskAgent()
  const { source, element, aim } = edit
  const mark = (aim === 'use' ? element?.use : element?.loc) ?? ''
  const ask = () => askAgent({ tag: source?.tag ?? element?.tag ?? 'element', mark, refusal, pending })
  return (
    <div
      role="note"
      data-refused={refusal.code}
      className="rounded-xl border border-warn-line bg-warn-soft px-3 py-2.5"
    >
      <p className="flex gap-2 text-[13px]">
        <Lock className="mt-0.5 size-3.5 shrink-0 text-warn" aria-hidden />
        <span>
          {refusal.reason} {children}
        </span>
      </p>
      <Button size="sm" className="mt-2" onClick={ask}>
        <Bot />
        Ask the agent
      </Button>
    </div>
  )
}
