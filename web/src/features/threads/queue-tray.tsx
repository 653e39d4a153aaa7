import { CornerDownRight, LoaderCircle, X } from 'lucide-react'
import { useState } from 'react'
import { queuedRuns, type Message, type RunState } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { complain } from '@/components/toast'
import type { MessageView } from '@/lib/apps'
import { plural } from '@/lib/format'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { useMe } from '../session/session-gate'
import { readCaptures } from './captures'
import { hasArrived, hasEnded } from './outgoing-message'
import { useOpenThread, useSender, useThreadFacts } from './thread-context'
import { useThreadViews } from './thread-views'
import { textOf } from './user-message'

/** Messages that wait for the answer before them, in order. Each joins the conversation when its run starts. */
export function QueueTray() {
  const { open } = useOpenThread()
  const { sending } = useSender()
  const queued = queuedRuns(open).flatMap((run) => {
    const message = open.messages.find(({ id }) => id === run.message_id)
    return message === undefined ? [] : [{ run, message }]
  })
  const unsaved = sending?.queued === true && !hasArrived(sending, open.messages) ? sending : null
  if (queued.length === 0 && unsaved === null) return null
  return (
    <section aria-label="Queued messages" className="mb-2 rounded-2xl border border-line bg-side px-3 py-2">
      <h2 className="text-xs text-muted">Queued: answered next</h2>
      <ul className="mt-1 max-h-40 space-y-0.5 overflow-y-auto">
        {queued.map(({ run, message }) => (
          <Row key={message.id} message={message} run={run} active={open.activeRun} />
        ))}
        {unsaved !== null && <Row message={unsaved} run={null} active={null} />}
      </ul>
    </section>
  )
}

interface RowProps {
  message: Message
  run: RunState | null
  /** The run before it. */
  active: RunState | null
}

function Row({ message, run, active }: RowProps) {
  const me = useMe()
  const { mayWrite } = useThreadFacts()
  const { messages } = useThreadViews()
  const [busy, setBusy] = useState(false)
  const other = message.sender_id !== null && message.sender_id !== me.user.id
  const change = (request: Promise<unknown>) => {
    setBusy(true)
    request.catch(complain).finally(() => setBusy(false))
  }
  return (
    <li data-queued={message.id} className="flex min-h-8 items-center gap-2">
      {busy || run === null ? (
        <LoaderCircle className="size-3 shrink-0 animate-spin text-faint" aria-hidden />
      ) : (
        <span className="size-2 shrink-0 rounded-full border-2 border-accent" aria-hidden />
      )}
      <p className="min-w-0 flex-1 truncate">
        {other && <span className="text-faint">{message.sender_name}: </span>}
        {summaryOf(message, messages)}
      </p>
      {mayWrite && run !== null && (
        <>
          {active !== null && (
            <IconButton
              label="Send now"
              size="icon-sm"
              disabled={busy}
              onClick={() => change(sendQueued(active.run_id, run.run_id))}
            >
              <CornerDownRight />
            </IconButton>
          )}
          <IconButton
            label="Remove from the queue"
            size="icon-sm"
            disabled={busy}
            onClick={() => change(client.cancel(run.run_id))}
          >
            <X />
          </IconButton>
        </>
      )}
    </li>
  )
}

/** Sends a queued message to the run before it; if that run has just ended, the message's turn comes anyway. */
const sendQueued = (runId: string, queued_run_id: string): Promise<unknown> =>
  once(`steer ${runId} ${queued_run_id}`, (key) => client.steer(runId, { queued_run_id }, key)).catch(
    (error: unknown) => {
      if (!hasEnded(error)) throw error
    },
  )

/** A message in one line. */
function summaryOf(message: Message, formats: readonly MessageView[]): string {
  const { text, captures } = readCaptures(textOf(message))
  const format = formats.find(({ matches }) => matches(text))
  if (format !== undefined) return format.summary(text)
  const images = message.parts.filter(({ type }) => type === 'image').length
  const files = message.parts.filter(({ type }) => type === 'file').length
  const more = [
    ...(files > 0 ? [plural(files, 'file')] : []),
    ...(images > 0 ? [plural(images, 'image')] : []),
    ...(captures.length > 0 ? [plural(captures.length, 'element')] : []),
  ].join(', ')
  return text === '' ? more : text.replace(/\s+/g, ' ') + (more === '' ? '' : ` (${more})`)
}
