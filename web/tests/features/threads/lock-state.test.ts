import { expect, test } from 'vitest'
import type { Lock } from '@outlast/sdk'
import { lockState } from '@/features/threads/lock-state'

const lock: Lock = {
  resource_type: 'thread',
  resource_id: 'thr_1',
  holder_id: 'usr_alice',
  holder_name: 'Alice',
  acquired_at: '2026-11-20T12:00:00Z',
  expires_at: '2026-11-20T13:00:00Z',
  requested_by: null,
  requested_by_name: null,
}

test.each([
  [null, 'usr_alice', false, 'free'],
  [lock, 'usr_alice', false, 'mine'],
  [lock, 'usr_alice', true, 'mine'],
  [lock, 'usr_bob', false, 'theirs'],
  [lock, 'usr_bob', true, 'expired'],
] as const)('the table of lock states, row %#', (held, me, expired, state) => {
  expect(lockState(held, me, expired)).toBe(state)
})
