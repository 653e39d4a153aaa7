import { ArrowUp, ListPlus, Square, Zap } from 'lucide-react'
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
}

/** Send; during an answer: stop it, or queue or interrupt with the written message. */
export function SendButtons({ busy, empty, ready, sending, stopping, onStop, onSend }: SendButtonsProps) {
  if (busy && !empty)
    return (
      <>
        <Button size="sm" look="ghost" disabled={!ready} onClick={() => onSend('interrupt')}>
          <Zap />
          Interrupt
        </Button>
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
