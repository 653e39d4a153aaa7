import { expect, test } from 'vitest'
import type { InboxItem } from '@outlast/sdk'
import { hrefOf, isRead, placeOf, titleOf } from '../src/features/inbox/waiting'

const item = (more: Partial<InboxItem>): InboxItem => ({
  kind: 'mention',
  id: 'men_1',
  project_id: 'prj_1',
  text: 'Look at this',
  created_at: '2026-11-22T10:00:00Z',
  by: 'usr_ada',
  by_name: 'Ada',
  thread_id: null,
  thread_title: null,
  message_id: null,
  run_id: null,
  tool: null,
  document_id: null,
  document_title: null,
  section_id: null,
  block_id: null,
  comment_id: null,
  ...more,
})

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
  expect(hrefOf(item(more))).toBe(href)
})

test('what waits says who wants what', () => {
  expect(titleOf(item({}))).toBe('Ada mentioned you')
  expect(titleOf(item({ by_name: null }))).toBe('An agent mentioned you')
  expect(titleOf(item({ kind: 'handover' }))).toBe('Ada asks you to hand over')
  expect(placeOf(item({ thread_title: '' }))).toBe('Untitled')
  expect(placeOf(item({ thread_title: 'Talk', document_title: 'Plan' }))).toBe('Plan')
})

test('what is only to be seen is read by looking, what is to be decided is not', () => {
  expect((['approval', 'question', 'proposal', 'handover', 'mention', 'assigned'] as const).filter(isRead)).toEqual([
    'mention',
    'assigned',
  ])
})
