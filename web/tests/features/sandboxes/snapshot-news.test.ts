import { expect, test } from 'vitest'
import { snapshotNews } from '@/features/sandboxes/snapshot-news'

const at = { name: 'snap-1', template: '', state: 'building' as const, step: '', output: '', error: null, older: false }

test('a build under way is told with its step and the last line it printed', () => {
  expect(snapshotNews({ ...at, step: 'install npm packages', output: 'one\ntwo  \r\n\n' })).toEqual({
    kind: 'building',
    text: 'Preparing the sandbox: install npm packages…',
    detail: 'two',
  })
})

test('a failed build says why, and whether an older snapshot is used', () => {
  const failed = { ...at, state: 'failed' as const, error: 'no such version' }
  expect(snapshotNews(failed)).toMatchObject({ kind: 'failed', detail: 'no such version' })
  expect(snapshotNews({ ...failed, older: true })?.text).toContain('earlier configuration')
})

test('a snapshot that is ready needs no words', () => {
  expect(snapshotNews({ ...at, state: 'ready' })).toBeNull()
})
