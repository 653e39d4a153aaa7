import { expect, test } from 'vitest'
import type { InboxItem } from '@outlast/sdk'
import { APPS } from '@/apps'
import { inboxKinds, kindOf, placeOf } from '@/features/inbox/inbox-kinds'
import { item } from '../../inbox-items'

test.each([
  [{ thread_id: 'thr_1' }, '/threads/thr_1'],
  [{ document_id: 'doc_1', comment_id: 'cmt_1' }, '/documents/doc_1?panel=comments&item=cmt_1'],
  [{ document_id: 'doc_1', thread_id: 'thr_1' }, '/documents/doc_1?panel=thread&item=thr_1'],
  [
    { kind: 'proposal', id: 'prp_1', document_id: 'doc_1', thread_id: 'thr_1' },
    '/documents/doc_1?panel=review&item=prp_1',
  ],
  [{ kind: 'handover', id: 'sec_1', document_id: 'doc_1', section_id: 'sec_1' }, '/documents/doc_1'],
  [{ kind: 'approval', id: 'apr_1', thread_id: 'thr_1' }, '/threads/thr_1'],
] as [Partial<InboxItem>, string][])('what waits leads to where it is, row %#', (more, href) => {
  expect(placeOf(APPS, item(more)).href).toBe(href)
})

test('what waits says who wants what', () => {
  const title = (more: Partial<InboxItem>) => kindOf(APPS, item(more)).title(item(more))
  expect(title({})).toBe('Ada mentioned you')
  expect(title({ by_name: null })).toBe('An agent mentioned you')
  expect(title({ kind: 'handover' })).toBe('Ada asks you to hand over')
  expect(placeOf(APPS, item({ thread_title: '' })).title).toBe('')
  expect(
    placeOf(APPS, item({ thread_title: 'CommentThread', document_id: 'doc_1', document_title: 'Plan' })).title,
  ).toBe('Plan')
})

test('a kind that no app knows can be opened', () => {
  const unknown = item({ kind: 'vote' as InboxItem['kind'], thread_id: 'thr_1' })
  expect(kindOf(APPS, unknown).actions).toEqual([{ label: 'Open' }])
})

test('only what needs no decision is marked as read when it is opened', () => {
  const read = Object.entries(inboxKinds(APPS)).filter(([, kind]) => kind.read !== undefined)
  expect(read.map(([name]) => name)).toEqual(['mention', 'schedule', 'assigned'])
})
