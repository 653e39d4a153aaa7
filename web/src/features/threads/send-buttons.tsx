import { ArrowUp, CornerDownRight, ListPlus, Square, Zap } from 'lucide-react'
import type { OnBusy } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'

interface SendButtonsProps {
  busy: boolean
  empty: boolean
  ready: boolean
  sending: boolean
  stopping: boolean
  onStop: (() => void) | undefined
  onSend: (how?: OnBusy) => void
  onSendNow: (() => void) | undefined
}

/** Send; during an answer: stop it, interrupt it, or send the written message to the agent now or after the answer. */
export function SendButtons(props: SendButtonsProps) {
  const { busy, empty, ready, sending, stopping, onStop, onSend, onSendNow } = props
  if (busy && !empty)
    return (
      <>
        <IconButton label="Interrupt" size="icon-sm" disabled={!ready} onClick={() => onSend('interrupt')}>
          <Zap />
        </IconButton>
        {onSendNow !== undefined && (
          <Button
            size="sm"
            look="ghost"
            disabled={!ready}
            title="The agent reads it before its next step (Ctrl+Enter)"
            onClick={onSendNow}
          >
            <CornerDownRight />
            Send now
          </Button>
        )}
        <Button size="sm" look="primary" busy={sending} disabled={!ready} onClick={() => onSend('enqueue')}>
          <ListPlus />
          Queue
        </Button>
      </>
    )
  if (busy && onStop !== undefined)
    return (
      <IconButton label="Stop the answer" look="dark" className="rounded-full" busy={stopping} onClick={onStop}>
        {!stopping && <Square className="size-3! fill-current" />}
      </IconButton>
    )
  return (
    <IconButton
      label="Send"
      keys="Enter"
      look="primary"
      className="rounded-full"
      disabled={!ready}
      busy={sending}
      onClick={() => onSend()}
    >
      {!sending && <ArrowUp />}
    </IconButton>
  )
}
