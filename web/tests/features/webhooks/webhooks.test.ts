import { expect, test } from 'vitest'
import type { Webhook } from '@outlast/sdk'
import { byNoun, nameOf, stateOf } from '@/features/webhooks/webhooks'

const webhook = (more: Partial<Webhook>): Webhook => ({
  id: 'whk_1',
  project_id: 'prj_1',
  title: '',
  url: 'https://example.com:8443/hooks',
  events: [],
  enabled: true,
  stopped_because: null,
  old_secret_until: null,
  pending: 0,
  dead: 0,
  created_by: 'usr_1',
  created_at: '2026-01-05T10:00:00.000Z',
  ...more,
})

test('a webhook without a title is named after its host', () => {
  expect(nameOf(webhook({}))).toBe('example.com:8443')
  expect(nameOf(webhook({ title: 'Tickets' }))).toBe('Tickets')
  expect(nameOf(webhook({ url: 'nonsense' }))).toBe('nonsense')
})

test('events are grouped by what they are about, in their order', () => {
  expect(byNoun(['run.queued', 'page.created', 'run.error'])).toEqual([
    ['run', ['run.queued', 'run.error']],
    ['page', ['page.created']],
  ])
})

test('the state of a webhook tells why nothing arrives', () => {
  expect(stateOf(webhook({}))[0]).toBe('On')
  expect(stateOf(webhook({ dead: 2 }))[0]).toBe('Failing')
  expect(stateOf(webhook({ enabled: false }))[0]).toBe('Off')
  expect(stateOf(webhook({ enabled: false, stopped_because: 'The address answered 410.' }))[0]).toBe('Stopped')
})
