import { useCallback, useRef, useState } from 'react'
import { chatError, chatView, type ChatError, type ChatView } from '../chats.ts'
import { activeRun } from '../threads.ts'
import type { OnBusy } from '../types.ts'
import { useClient } from './context.tsx'
import { useCreditBalance, useThread } from './hooks.ts'

export interface ChatOptions {
  /** The thread to talk in; a screen's is its `thread_id`. */
  threadId: string
}

export interface SendOptions {
  modelId?: string
  /** Ids of uploaded attachments. */
  images?: string[]
  onBusy?: OnBusy
}

export interface ChatStreaming extends ChatView {
  /** Rejects when the message could not be saved; the reason is in `error` too. */
  sendMessage: (content: string, options?: SendOptions) => Promise<void>
  /** Sends a refused message again, or starts the last answer anew. */
  retryLastMessage: () => Promise<void>
  cancel: () => Promise<void>
}

interface Attempt {
  content: string
  options: SendOptions
  key: string
}

/** A thread as a chat: saved and growing messages without marks, status, steps, one error with its way out. */
export function useChatStreaming({ threadId }: ChatOptions): ChatStreaming {
  const client = useClient()
  const thread = useThread(threadId)
  const { credits } = useCreditBalance()
  const [sending, setSending] = useState(false)
  const [refused, setRefused] = useState<ChatError | null>(null)
  const last = useRef<Attempt | null>(null)
  const view = chatView(thread, sending, credits)

  const attempt = useCallback(
    async (tried: Attempt) => {
      last.current = tried
      setSending(true)
      setRefused(null)
      const { modelId, images = [], onBusy } = tried.options
      const body = {
        content: tried.content,
        ...(modelId !== undefined && { model: modelId }),
        ...(images.length > 0 && { images }),
        ...(onBusy !== undefined && { on_busy: onBusy }),
      }
      try {
        await client.startRun(threadId, body, tried.key)
        last.current = null
      } catch (error) {
        setRefused(chatError(error as Error))
        throw error
      } finally {
        setSending(false)
      }
    },
    [client, threadId],
  )
  const sendMessage = useCallback(
    (content: string, options: SendOptions = {}) => attempt({ content, options, key: crypto.randomUUID() }),
    [attempt],
  )
  const retryLastMessage = async () => {
    if (last.current !== null) return attempt(last.current)
    const failed = Object.values(thread.runs).findLast(({ status }) => status === 'error' || status === 'cancelled')
    if (failed !== undefined) await client.retry(failed.run_id)
  }
  const cancel = async () => {
    const run = activeRun(thread)
    if (run !== null) await client.cancel(run.run_id)
  }
  const error = refused ?? view.error
  const status = refused !== null && view.status === 'ready' ? 'error' : view.status
  return { ...view, status, error, sendMessage, retryLastMessage, cancel }
}
