import { describe, expect, it } from 'vitest'
import {
  chatError,
  ChatSender,
  chatView,
  CreditsNeeded,
  emptyRun,
  emptyThread,
  TryLater,
  type Credits,
  type Message,
  type Part,
  type RunState,
  type ThreadSnapshot,
} from '@outlast/sdk'

const text = (words: string): Part => ({ type: 'text', id: `t_${words.length}`, step: 1, text: words })
const message = (id: string, role: Message['role'], parts: Part[]): Message => ({
  id,
  thread_id: 'thr_1',
  position: 1,
  role,
  sender_id: null,
  sender_name: null,
  status: 'complete',
  parts,
  model: role === 'assistant' ? 'demo/demo' : null,
  profile: null,
  run_id: role === 'assistant' ? `run_${id}` : null,
  credits: role === 'assistant' ? 2 : null,
  error: null,
  stop_reason: null,
  created_at: '2026-11-20T12:00:00Z',
})
const thread = (change: Partial<ThreadSnapshot>): ThreadSnapshot => ({
  ...emptyThread(),
  loading: false,
  connection: { status: 'live', failures: 0, error: null },
  watching: [],
  typing: [],
  lineage: [],
  role: 'editor',
  older: null,
  loadingOlder: false,
  thinking: {},
  context: null,
  ...change,
})
const running = (change: Partial<RunState>): Record<string, RunState> => ({
  run_1: { ...emptyRun('run_1'), status: 'running', ...change },
})
const CREDITS: Credits = {
  plan: 'starter',
  balance: 1,
  allowance: 25,
  reserved: 0,
  low: true,
  resets_at: '2026-12-01T00:00:00Z',
  entries: [],
}

describe('a thread as a chat', () => {
  it('loads, is ready, is sending, streams, is ready again', () => {
    expect(chatView(thread({ loading: true }))).toMatchObject({ isLoadingHistory: true, status: 'ready' })
    expect(chatView(thread({}))).toMatchObject({ isLoading: false, status: 'ready', statusText: '', messages: [] })
    expect(chatView(thread({}), true)).toMatchObject({ isLoading: true, status: 'submitted', statusText: 'Sending…' })
    expect(chatView(thread({ runs: running({}) }))).toMatchObject({ isLoading: true, status: 'submitted' })
    const streaming = chatView(thread({ runs: running({ parts: [text('Hel')] }) }))
    expect(streaming).toMatchObject({ status: 'streaming', statusText: 'Writing…' })
    expect(streaming.messages).toMatchObject([{ id: 'run_1', content: 'Hel', streaming: true }])
  })

  it('shows answers without their marks, with model, credits and files', () => {
    const answer =
      'Done.\n<title>Shop</title>\n<task_summary>\nA shop.\n</task_summary>\n<files_summary>\n- app/page.tsx: All\n</files_summary>'
    const { messages } = chatView(
      thread({
        messages: [
          message('m1', 'user', [text('<title>as typed</title>')]),
          message('m2', 'assistant', [text(answer)]),
        ],
      }),
    )
    expect(messages).toMatchObject([
      { role: 'user', content: '<title>as typed</title>' },
      {
        role: 'assistant',
        content: 'Done.\n\nA shop.',
        modelId: 'demo/demo',
        credits: 2,
        files: [{ path: 'app/page.tsx', description: 'All' }],
        streaming: false,
      },
    ])
  })

  it('does not load while it waits for a person', () => {
    const view = chatView(thread({ runs: running({ status: 'awaiting_approval', waiting_for: 'approval' }) }))
    expect(view).toMatchObject({ isLoading: false, statusText: 'Waiting for your approval' })
  })

  it('explains what is short when credits are, and lets other errors be tried again', () => {
    const refusal = new CreditsNeeded({
      status: 402,
      code: 'credits_needed',
      detail: 'This run costs 5 credits; you have 1 left this month.',
      fields: { price: 5, balance: 1 },
    })
    expect(chatError(refusal, CREDITS)).toMatchObject({
      retryable: false,
      credits: { needed: 5, remaining: 1, resetsAt: '2026-12-01T00:00:00Z' },
    })
    expect(chatError(new TryLater({ status: 503, code: 'try_later', detail: 'Busy' }))).toMatchObject({
      retryable: true,
      credits: null,
    })
    const error = { code: 'provider_error', message: 'The model broke off.', hint: 'Try again.', retry_after_s: null }
    const view = chatView(thread({ runs: running({ status: 'error', error }) }))
    expect(view).toMatchObject({ status: 'error', error: { message: 'The model broke off.', retryable: true } })
  })
})

describe('sending in a chat', () => {
  const gone = new TryLater({ status: 503, code: 'try_later', detail: 'The server stops.' })
  const started = { run_id: 'run_1', thread_id: 'thr_1', message_id: 'm1', cursor: 0 }

  it('sends a refused message again under its first key, and says meanwhile why it was refused', async () => {
    const asked: unknown[] = []
    const startRun = (...call: unknown[]) => {
      asked.push(call)
      return asked.length === 1 ? Promise.reject(gone) : Promise.resolve(started)
    }
    const sender = new ChatSender({ startRun, retry: () => Promise.resolve(started) }, 'thr_1')
    await expect(sender.sendMessage('Hello', { modelId: 'demo', images: ['att_1'] })).rejects.toBe(gone)
    expect(sender.get()).toMatchObject({ sending: false, refused: { code: 'try_later', retryable: true } })
    await sender.retryLastMessage({})
    expect(sender.get()).toEqual({ sending: false, refused: null })
    expect(asked[0]).toEqual(['thr_1', { content: 'Hello', model: 'demo', images: ['att_1'] }, expect.any(String)])
    expect(asked[1]).toEqual(asked[0])
  })

  it('starts the last answer anew where nothing was refused', async () => {
    const retried: string[] = []
    const retry = (id: string) => (retried.push(id), Promise.resolve(started))
    const sender = new ChatSender({ startRun: () => Promise.resolve(started), retry }, 'thr_1')
    await sender.sendMessage('Hello')
    await sender.retryLastMessage({})
    expect(retried).toEqual([])
    await sender.retryLastMessage(running({ status: 'error' }))
    expect(retried).toEqual(['run_1'])
  })
})
