/** A thread as a chat shows it: messages without tags, one live answer, one status line, steps, one error. Pure. */
import type { Credits, ImagePart, Message, Part, RunError, ScreenFile } from './api.gen.ts'
import { readAnswers } from './answers.ts'
import { CreditsNeeded, OutlastError } from './errors.ts'
import { isTerminal, type RunState } from './fold.ts'
import { statusText } from './status.ts'
import { stepsOf, type StreamingStep } from './steps.ts'
import { activeRun, liveRuns, type ThreadSnapshot } from './thread-store.ts'

export type ChatStatus = 'ready' | 'submitted' | 'streaming' | 'error'

export interface ChatMessage {
  id: string
  role: 'user' | 'assistant'
  /** Plain text from a user, Markdown from the assistant; tags such as `<title>` are removed. */
  content: string
  images: ImagePart[]
  /** The changed files, by the assistant's summary. */
  files: ScreenFile[]
  modelId: string | null
  credits: number | null
  createdAt: string | null
  /** The message is still being written. */
  streaming: boolean
}

export interface ChatError {
  code: string
  message: string
  hint: string
  /** The same message can be sent again unchanged. */
  retryable: boolean
  /** Set if there are not enough credits. */
  credits: CreditShortage | null
}

export interface CreditShortage {
  needed: number | null
  remaining: number | null
  resetsAt: string | null
}

export interface ChatView {
  messages: ChatMessage[]
  /** An answer is requested or being written; false while it waits for a user. */
  isLoading: boolean
  isLoadingHistory: boolean
  status: ChatStatus
  statusText: string
  streamingSteps: StreamingStep[]
  error: ChatError | null
}

/** The chat view of a thread. `sending`: a message is on its way to the server. */
export function chatView(thread: ThreadSnapshot, sending = false, credits: Credits | null = null): ChatView {
  const run = activeRun(thread)
  const last = run ?? lastRun(thread)
  const error = run === null && !sending ? errorOfRun(last, credits) : null
  const busy = sending || (run !== null && (run.status === 'running' || run.status === 'queued'))
  return {
    messages: [...thread.messages.flatMap(saved), ...liveRuns(thread).flatMap(live)],
    isLoading: busy,
    isLoadingHistory: thread.loading,
    status: statusOf(run, sending, error),
    statusText: run === null ? (sending ? 'Sending…' : '') : statusText(run),
    streamingSteps: run === null ? [] : stepsOf(run),
    error,
  }
}

function statusOf(run: RunState | null, sending: boolean, error: ChatError | null): ChatStatus {
  if (run !== null) return run.parts.length > 0 ? 'streaming' : 'submitted'
  if (sending) return 'submitted'
  return error === null ? 'ready' : 'error'
}

const lastRun = (thread: ThreadSnapshot): RunState | null =>
  Object.values(thread.runs)
    .filter(({ status }) => isTerminal(status))
    .at(-1) ?? null

/** A refusal or a run's error, in words for a chat. */
export function chatError(error: RunError | Error, credits: Credits | null = null): ChatError {
  const known = error instanceof OutlastError || !(error instanceof Error)
  const code = known ? error.code : 'unknown'
  const short = error instanceof CreditsNeeded || code === 'credits_needed'
  const fields = error instanceof OutlastError ? error.fields : {}
  return {
    code,
    message: error.message,
    hint: known ? error.hint : '',
    retryable: !short && code !== 'model_policy_refused',
    credits: short ? shortage(fields, credits) : null,
  }
}

const shortage = (fields: Record<string, unknown>, credits: Credits | null): CreditShortage => ({
  needed: numberIn(fields, 'price'),
  remaining: numberIn(fields, 'balance') ?? credits?.balance ?? null,
  resetsAt: credits?.resets_at ?? null,
})

const numberIn = (fields: Record<string, unknown>, name: string): number | null => {
  const value = fields[name]
  return typeof value === 'number' ? value : null
}

const errorOfRun = (run: RunState | null, credits: Credits | null): ChatError | null =>
  run?.status === 'error' && run.error !== null ? chatError(run.error, credits) : null

function saved(message: Message): ChatMessage[] {
  if (message.role !== 'user' && message.role !== 'assistant') return []
  const { id, role, parts, model, credits, created_at } = message
  return [
    { ...contentOf(parts, role, false), id, role, modelId: model, credits, createdAt: created_at, streaming: false },
  ]
}

function live(run: RunState): ChatMessage[] {
  if (run.parts.length === 0) return []
  const streaming = !isTerminal(run.status)
  const facts = {
    id: run.run_id,
    role: 'assistant',
    modelId: run.model,
    credits: run.credits,
    createdAt: null,
  } as const
  return [{ ...contentOf(run.parts, 'assistant', streaming), ...facts, streaming }]
}

function contentOf(parts: Part[], role: ChatMessage['role'], growing: boolean) {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const read = role === 'user' ? texts.map((text) => ({ text, files: [] })) : readAnswers(texts, growing)
  return {
    content: read.flatMap(({ text }) => (text.trim() === '' ? [] : [text])).join('\n\n'),
    files: read.flatMap(({ files }) => files),
    images: parts.filter((part) => part.type === 'image'),
  }
}
