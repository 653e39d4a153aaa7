import { expect, test } from 'vitest'
import { emptyRun, statusText, type Part, type RunState } from '@outlast/sdk'

const run = (change: Partial<RunState>): RunState => ({ ...emptyRun('run_1'), status: 'running', ...change })
const text = (words: string): Part => ({ type: 'text', id: 'p', step: 1, text: words })
const tool = (status: 'running' | 'done'): Part => ({
  type: 'tool_call',
  id: 't',
  step: 1,
  call_id: 'c',
  tool: 'terminal',
  arguments: '',
  status,
  output: '',
  result: null,
  approval_id: null,
  decided_by: null,
  duration_s: null,
})

test.each<[Partial<RunState>, string]>([
  [{ status: 'queued' }, 'Queued…'],
  [{}, 'Starting…'],
  [{ parts: [{ type: 'reasoning', id: 'r', step: 1, text: 'Hm' }] }, 'Thinking…'],
  [{ parts: [text('')] }, 'Thinking…'],
  [{ parts: [text('Hello')] }, 'Writing…'],
  [{ parts: [tool('running')] }, 'Calling terminal…'],
  [{ parts: [tool('running')], profile: 'screen' }, 'Running a command…'],
  [{ parts: [tool('done')] }, 'Thinking…'],
  [
    {
      workflow: [{ run_id: 'run_1', name: 'open_sandbox', status: 'started', detail: '', duration_s: null }],
    },
    'Opening the sandbox…',
  ],
  [{ status: 'awaiting_approval', waiting_for: 'approval' }, 'Waiting for your approval'],
  [{ status: 'awaiting_approval', waiting_for: 'answer' }, 'Waiting for your answer'],
  [{ status: 'paused' }, 'Paused: waiting for you'],
  [{ retry_at: '2026-11-20T12:00:00Z' }, 'Retrying at noon'],
  [{ status: 'completed' }, ''],
  [{ status: 'cancelled' }, 'Cancelled'],
  [{ status: 'error' }, 'Stopped by an error'],
])('%o reads %s', (change, words) => {
  expect(statusText(run(change), { time: () => 'noon' })).toBe(words)
})
