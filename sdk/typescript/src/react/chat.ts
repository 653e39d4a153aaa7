import { useMemo } from 'react'
import { ChatSender, type SendOptions } from '../chat-sender.ts'
import { chatView, type ChatView } from '../chats.ts'
import { activeRun } from '../thread-store.ts'
import { useClient, useStore } from './context.tsx'
import { useCreditBalance, useThread } from './hooks.ts'

export interface ChatOptions {
  /** The thread of the chat; for a screen, its `thread_id`. */
  threadId: string
}

export interface ChatStreaming extends ChatView {
  /** Rejects if the message could not be saved; the reason is also in `error`. */
  sendMessage: (content: string, options?: SendOptions) => Promise<void>
  /** Sends a refused message again, or repeats the last answer. */
  retryLastMessage: () => Promise<void>
  cancel: () => Promise<void>
}

/** A thread as a chat: saved and growing messages without tags, status, steps, one error with its solution. */
export function useChatStreaming({ threadId }: ChatOptions): ChatStreaming {
  const client = useClient()
  const thread = useThread(threadId)
  const { credits } = useCreditBalance()
  const sender = useMemo(() => new ChatSender(client, threadId), [client, threadId])
  const { sending, refused } = useStore(sender)
  const view = chatView(thread, sending, credits)
  const cancel = async () => {
    const run = activeRun(thread)
    if (run !== null) await client.cancel(run.run_id)
  }
  return {
    ...view,
    status: refused !== null && view.status === 'ready' ? 'error' : view.status,
    error: refused ?? view.error,
    sendMessage: sender.sendMessage,
    retryLastMessage: () => sender.retryLastMessage(thread.runs),
    cancel,
  }
}
