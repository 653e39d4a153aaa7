import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { OutlastError, type Message, type OnBusy, type StartRun } from '@outlast/sdk'
import { client } from '@/lib/queries'

export interface Outgoing {
  content: string
  /** Ids of uploaded attachments of any kind. */
  images: string[]
  /** null: the server's default. */
  model: string | null
  on_busy?: OnBusy
}

export const bodyOf = ({ content, images, model, on_busy }: Outgoing): StartRun => ({
  content,
  ...(model !== null && { model }),
  ...(images.length > 0 && { images }),
  ...(on_busy && { on_busy }),
})

/** The same body gets the same key, so that a retry after a lost reply starts nothing twice. */
export function keyFor(keys: Map<string, string>, body: string): string {
  const key = keys.get(body) ?? crypto.randomUUID()
  keys.set(body, key)
  return key
}

/** A message that is being sent; `queued`: behind the current answer; `after`: the last position before it. */
export type Unsaved = Message & { queued: boolean; after: number }

const ON_ITS_WAY = 'sending'

/** True if the stream has delivered the message. This can happen before the request that creates it is answered.
 * Pure. */
export const hasArrived = (sending: Unsaved, messages: readonly Message[]): boolean =>
  messages.some(
    (one) =>
      one.id === sending.id ||
      (sending.id === ON_ITS_WAY &&
        one.role === 'user' &&
        one.position > sending.after &&
        wordsOf(one) === wordsOf(sending)),
  )

const wordsOf = ({ parts }: Message): string =>
  parts
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
    .trim()

/** Sends messages into a thread, and shows each until the stream delivers the saved one. */
export function useSending(threadId: string, messages: readonly Message[]) {
  const [sending, setSending] = useState<Unsaved | null>(null)
  const keys = useRef(new Map<string, string>())
  const sent = useRef(0)
  const last = useRef(0)
  useEffect(() => {
    last.current = messages.at(-1)?.position ?? 0
  }, [messages])
  const deliver = useCallback(
    async (message: Outgoing, what: string, request: (key: string) => Promise<string>) => {
      const unsaved = unsavedMessage(threadId, message, last.current)
      setSending(unsaved)
      try {
        const id = await request(keyFor(keys.current, `${sent.current} ${what}`))
        sent.current += 1
        setSending({ ...unsaved, id })
      } catch (error) {
        setSending(null)
        throw error
      }
    },
    [threadId],
  )
  const send = useCallback(
    async (message: Outgoing) => {
      const body = bodyOf(message)
      await deliver(
        message,
        JSON.stringify(body),
        async (key) => (await client.startRun(threadId, body, key)).message_id,
      )
    },
    [threadId, deliver],
  )
  const sendNow = useCallback(
    async (message: Outgoing, runId: string) => {
      const { content, images } = message
      try {
        await deliver(message, `${runId} ${JSON.stringify([content, images])}`, async (key) => {
          return (await client.steer(runId, { content, images }, key)).id
        })
      } catch (error) {
        if (!hasEnded(error)) throw error
        await send({ ...message, on_busy: 'enqueue' })
      }
    },
    [deliver, send],
  )
  return useMemo(() => ({ send, sendNow, sending }), [send, sendNow, sending])
}

/** The run ended before the message reached it. */
export const hasEnded = (error: unknown): boolean => error instanceof OutlastError && error.code === 'run_finished'

/** A placeholder for a message until the stream delivers the saved one. */
export function unsavedMessage(threadId: string, { content, on_busy }: Outgoing, after: number): Unsaved {
  return {
    queued: on_busy === 'enqueue',
    after,
    id: ON_ITS_WAY,
    thread_id: threadId,
    position: Number.MAX_SAFE_INTEGER,
    role: 'user',
    sender_id: null,
    sender_name: null,
    status: 'complete',
    parts: [{ type: 'text', id: ON_ITS_WAY, step: 0, text: content }],
    model: null,
    profile: null,
    run_id: null,
    credits: null,
    error: null,
    stop_reason: null,
    created_at: new Date().toISOString(),
  }
}
