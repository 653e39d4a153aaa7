import { describe, expect, it } from 'vitest'
import type { CompactionData, Message } from '@outlast/sdk'
import { firstAfter } from '@/features/threads/compaction-divider'

const summary = (to_position: number): CompactionData => ({
  id: 'cmp_1',
  thread_id: 'thr_1',
  to_position,
  last_position: to_position + 1,
  text: '## Facts',
  run_id: null,
  model: 'demo',
  input_tokens: 0,
  output_tokens: 0,
  created_at: '2026-11-20T12:00:00Z',
})
const said = (...positions: number[]) =>
  positions.map((position): Message => ({
    id: `msg_${position}`,
    thread_id: 'thr_1',
    position,
    role: position % 2 === 1 ? 'user' : 'assistant',
    sender_id: null,
    sender_name: null,
    status: 'complete',
    parts: [],
    model: null,
    profile: null,
    run_id: null,
    credits: null,
    error: null,
    stop_reason: null,
    created_at: '2026-11-20T12:00:00Z',
  }))

describe('the divider below summarized messages', () => {
  it('stands above the first message that the summary does not cover', () => {
    expect(firstAfter(summary(3), said(1, 2, 3, 4, 5, 6))).toBe('msg_5')
  })
  it('stands nowhere without a summary, or if no message before or after it is shown', () => {
    expect(firstAfter(null, said(1, 2))).toBeNull()
    expect(firstAfter(summary(3), said(5, 6))).toBeNull()
    expect(firstAfter(summary(3), said(1, 2, 3, 4))).toBeNull()
    expect(firstAfter(summary(3), [])).toBeNull()
  })
})
