/** A screen's answers, named by their request. Pure. */
import type { ThreadState } from '@outlast/sdk'
import { readCaptures } from '@/features/threads/captures'

export interface Answered {
  runId: string
  /** The beginning of the request. */
  words: string
  at: string
}

/** Requests, newest first, including the one in progress. */
export function answersOf({ messages, runs }: Pick<ThreadState, 'messages' | 'runs'>): Answered[] {
  const requests = new Map(messages.filter(({ role }) => role === 'user').map((message) => [message.id, message]))
  const answers = new Map<string, Answered>()
  let last = ''
  for (const message of messages) {
    if (message.role === 'user') last = message.id
    else if (message.role === 'assistant' && message.run_id !== null)
      add(message.run_id, runs[message.run_id]?.message_id ?? last, message.created_at)
  }
  for (const run of Object.values(runs))
    if (run.message_id !== null && run.status !== 'queued') add(run.run_id, run.message_id, undefined)
  return [...answers.values()].reverse()

  function add(runId: string, messageId: string, at: string | undefined): void {
    const message = requests.get(messageId)
    if (answers.has(runId) || (message === undefined && at === undefined)) return
    const words = message === undefined ? 'An answer' : wordsOf(message.parts)
    answers.set(runId, { runId, words, at: at ?? message?.created_at ?? '' })
  }
}

function wordsOf(parts: readonly { type: string; text?: string }[]): string {
  const whole = parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join(' ')
  const { text, captures } = readCaptures(whole)
  const line = text.replace(/\s+/g, ' ').trim()
  return line === '' ? (captures[0]?.label ?? 'An image') : line
}
