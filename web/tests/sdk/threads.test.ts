import { afterEach, expect, test, vi } from 'vitest'
import { activeRun, liveRuns, OutlastClient, queuedRuns, ThreadStore, type ThreadSnapshot } from '@outlast/sdk'

const message = (position: number, role: 'user' | 'assistant', run_id: string | null = null) => ({
  id: `msg_${position}`,
  thread_id: 'thr_1',
  position,
  role,
  status: 'complete',
  parts: [],
  run_id,
})

const summary = (id: string, status: string, message_id: string) => ({
  id,
  thread_id: 'thr_1',
  status,
  message_id,
  step_count: 1,
  error: status === 'error' ? { code: 'sandbox_unavailable', message: 'No sandbox.', hint: '' } : null,
})

interface Server {
  thread?: object
  messages?: object[]
  runs?: object[]
  events?: object[]
}

/** A client whose requests are answered from an object; the stream gives its events and stays open. */
function clientOf({ thread, messages = [], runs = [], events = [] }: Server): OutlastClient {
  const view = { id: 'thr_1', cursor: '5', lock: null, active_run: null, queued_runs: [], watching: [], lineage: [] }
  const frames = events.map((event, n) => `id: ${n + 6}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const answer = (url: string): Response => {
    if (url.includes('/events')) {
      const body = new ReadableStream({ start: (feed) => feed.enqueue(new TextEncoder().encode(frames)) })
      return new Response(body)
    }
    if (url.includes('/messages')) return Response.json({ items: messages, next: null })
    if (url.startsWith('/v1/runs')) return Response.json({ items: runs, next: null })
    return Response.json({ ...view, ...thread })
  }
  return new OutlastClient({ fetch: (url) => Promise.resolve(answer(String(url))) })
}

const stops: (() => void)[] = []
afterEach(() => stops.splice(0).forEach((stop) => stop()))

async function opened(server: Server): Promise<ThreadSnapshot> {
  const store = new ThreadStore(clientOf(server), 'thr_1')
  stops.push(store.stop)
  store.start()
  await vi.waitFor(() => expect(store.get().connection.status).toBe('live'))
  await vi.waitFor(() => expect(Object.keys(store.get().runs).length + store.get().messages.length).toBeGreaterThan(0))
  return store.get()
}

test('a run that ended before it could save anything is shown with its error', async () => {
  const state = await opened({ messages: [message(1, 'user')], runs: [summary('run_1', 'error', 'msg_1')] })
  expect(liveRuns(state).map((run) => run.error?.code)).toEqual(['sandbox_unavailable'])
  expect(activeRun(state)).toBeNull()
})

test('an older failed run is not shown below a message that only is a note', async () => {
  const state = await opened({ messages: [message(9, 'user')], runs: [summary('run_1', 'error', 'msg_1')] })
  expect(liveRuns(state)).toEqual([])
})

test('a queued run waits behind the active one', async () => {
  const active = { ...summary('run_1', 'running', 'msg_1'), parts: [], pending: [] }
  const thread = { active_run: active, queued_runs: [{ run_id: 'run_2', message_id: 'msg_2' }] }
  const state = await opened({ thread, messages: [message(1, 'user'), message(2, 'user')] })
  expect(activeRun(state)?.run_id).toBe('run_1')
  expect(queuedRuns(state).map((run) => run.run_id)).toEqual(['run_2'])
})

test('the saved answer takes the place of the live one', async () => {
  const saved = { message: message(2, 'assistant', 'run_1') }
  const events = [
    { id: 'run_1:1', event: 'run.started', data: { run_id: 'run_1', attempt: 1 } },
    { id: 'thr_1:6', event: 'message.created', data: saved },
  ]
  const state = await opened({ messages: [message(1, 'user')], events })
  expect(state.messages.map(({ id }) => id)).toEqual(['msg_1', 'msg_2'])
  expect(liveRuns(state)).toEqual([])
})

test('a run that interrupts stands before those that were queued earlier', async () => {
  const active = { ...summary('run_1', 'running', 'msg_1'), parts: [], pending: [] }
  const queued = (run_id: string, message_id: string, after_run_id: string) => ({
    id: 'thr_1:7',
    event: 'run.queued',
    data: { run_id, thread_id: 'thr_1', message_id, after_run_id },
  })
  const thread = { active_run: active, queued_runs: [{ run_id: 'run_2', message_id: 'msg_2' }] }
  const events = [queued('run_2', 'msg_2', 'run_3'), queued('run_3', 'msg_3', 'run_1')]
  const state = await opened({ thread, messages: [message(1, 'user')], events })
  await vi.waitFor(() => expect(Object.keys(state.runs)).toContain('run_2'))
  expect(activeRun(state)?.run_id).toBe('run_1')
})

test('the usage of each turn says how full the context is', async () => {
  const turn = (number: number, input_tokens: number, context_tokens: number) => ({
    id: `run_1:${number}`,
    event: 'step.completed',
    data: { run_id: 'run_1', step: number, finish: 'stop', usage: { input_tokens, output_tokens: 20 }, context_tokens },
  })
  const known = { used_tokens: 10, limit_tokens: 1000 }
  const before = await opened({ thread: { context: known }, messages: [message(1, 'user')] })
  expect(before.context).toEqual(known)
  const events = [turn(1, 300, 1000), turn(2, 500, 1000), turn(3, 900, 0)]
  const store = new ThreadStore(
    clientOf({ thread: { context: known }, messages: [message(1, 'user')], events }),
    'thr_1',
  )
  stops.push(store.stop)
  store.start()
  await vi.waitFor(() => expect(store.get().context).toEqual({ used_tokens: 520, limit_tokens: 1000 }))
})
