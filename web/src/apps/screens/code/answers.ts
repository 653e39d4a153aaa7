/** A screen's answers by what was asked, and its checkpoints in words. Pure. */
import type { Checkpoint, ThreadState } from '@outlast/sdk'
import { readCaptures } from '@/features/threads/captures'

export interface Answered {
  runId: string
  /** The beginning of what was asked. */
  words: string
  at: string
}

/** What was asked, the newest first; also what is being answered now. */
export function answersOf({ messages, runs }: Pick<ThreadState, 'messages' | 'runs'>): Answered[] {
  const asked = new Map(messages.filter(({ role }) => role === 'user').map((message) => [message.id, message]))
  const found = new Map<string, Answered>()
  let last = ''
  for (const message of messages) {
    if (message.role === 'user') last = message.id
    else if (message.role === 'assistant' && message.run_id !== null)
      add(message.run_id, runs[message.run_id]?.message_id ?? last, message.created_at)
  }
  for (const run of Object.values(runs))
    if (run.message_id !== null && run.status !== 'queued') add(run.run_id, run.message_id, undefined)
  return [...found.values()].reverse()

  function add(runId: string, messageId: string, at: string | undefined): void {
    const message = asked.get(messageId)
    if (found.has(runId) || (message === undefined && at === undefined)) return
    const words = message === undefined ? 'An answer' : wordsOf(message.parts)
    found.set(runId, { runId, words, at: at ?? message?.created_at ?? '' })
  }
}

function wordsOf(parts: readonly { type: string; text?: string }[]): string {
  const whole = parts.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join(' ')
  const { text, captures } = readCaptures(whole)
  const line = text.replace(/\s+/g, ' ').trim()
  return line === '' ? (captures[0]?.label ?? 'An image') : line
}

const REASONS: Record<Checkpoint['reason'], string> = {
  template: 'Initial version',
  tool: 'During an answer',
  message: 'After an answer',
  sleep: 'Before the sandbox paused',
  fork: 'Copied from another screen',
  restore: 'Restored',
  person: 'Edited by hand',
}

/** The last of a run belongs to its answer, whatever it was made for. */
export const isOfAnswer = ({ reason, message_id }: Checkpoint): boolean => reason === 'message' || message_id !== null

export function reasonOf(checkpoint: Checkpoint, answers: readonly Answered[]): string {
  const asked = answers.find(({ runId }) => runId === checkpoint.run_id)
  if (isOfAnswer(checkpoint)) return asked?.words ?? REASONS.message
  return REASONS[checkpoint.reason]
}

/** Those that a person would go back to; `all`: also those in between. What is the same as the one after it is left out. */
export function shownCheckpoints(items: readonly Checkpoint[], all: boolean): Checkpoint[] {
  const wanted = items.filter(
    (one, at) => all || at === 0 || isOfAnswer(one) || (one.reason !== 'tool' && one.reason !== 'sleep'),
  )
  return wanted.filter((one, at) => at === 0 || one.tree !== wanted[at - 1]?.tree || one.reason === 'restore')
}
