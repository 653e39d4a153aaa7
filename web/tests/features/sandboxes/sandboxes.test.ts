import { expect, test } from 'vitest'
import type { Sandbox } from '@outlast/sdk'
import { afterNews } from '@/features/sandboxes/sandboxes'
import { lookOf } from '@/features/sandboxes/sandbox-state'

const clock = { name: 'sandbox_pause', due_at: '2030-01-01T12:00:00Z', takes_away: 'It is frozen.' }
const sandbox = (id: string, more: Partial<Sandbox> = {}): Sandbox => ({
  id,
  workspace_id: `wsp_${id}`,
  project_id: 'prj_1',
  thread_id: 'thr_1',
  thread_title: 'Primes',
  owner_type: 'thread',
  user_id: 'usr_1',
  user_name: 'Ada',
  active_run_id: null,
  provider: 'local',
  node_id: null,
  snapshot: null,
  state: 'ready',
  pause_kind: null,
  memory_bytes: 1,
  processes: 1,
  cpu_s: 1,
  disk_bytes: 1,
  limits: null,
  services: [],
  clocks: [clock],
  created_at: '2030-01-01T11:00:00Z',
  last_used_at: '2030-01-01T11:00:00Z',
  ended_at: null,
  ...more,
})

test('an event changes its sandbox and no other', () => {
  const web = { name: 'web', port: 3000, state: 'healthy', error: null, restarts: 0 } as const
  const items = [sandbox('a'), sandbox('b')]
  const [a, b] = afterNews(items, { sandbox_id: 'b', state: 'paused', pause_kind: 'frozen', services: [web] })
  expect(a).toBe(items[0])
  expect(b).toMatchObject({ state: 'paused', pause_kind: 'frozen', services: [web], memory_bytes: 1 })
})

test.each(['lost', 'killed'] as const)('one that is %s leaves the list', (state) => {
  const left = afterNews([sandbox('a'), sandbox('b')], { sandbox_id: 'a', state, pause_kind: null, services: [] })
  expect(left.map(({ id }) => id)).toEqual(['b'])
})

test('each state is told in a word', () => {
  expect(lookOf(sandbox('a')).label).toBe('Awake')
  expect(lookOf(sandbox('a', { active_run_id: 'run_1', clocks: [] })).label).toBe('Working')
  expect(lookOf(sandbox('a', { active_run_id: 'run_1' })).label).toBe('Awake')
  expect(lookOf(sandbox('a', { state: 'paused', pause_kind: 'frozen' })).label).toBe('Frozen')
  expect(lookOf(sandbox('a', { state: 'paused', pause_kind: 'stopped' })).label).toBe('Stopped')
  expect(lookOf(sandbox('a', { state: 'creating' })).label).toBe('Starting')
})
