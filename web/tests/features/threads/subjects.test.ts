import { describe, expect, test } from 'vitest'
import type { FamilyThread } from '@outlast/sdk'
import { anchorOf, shownAnchor } from '@/apps/documents/anchors'
import { branchesOf } from '@/features/threads/family'
import { APPS } from '@/apps'
import { documentOf } from '@/apps/documents/subject'
import { relatedHref, threadHref } from '@/features/threads/subjects'

const thread = (id: string, anchor: Record<string, unknown> | null = null) => ({ id, anchor })

test.each([
  [null, '/threads/thr_1'],
  [{ type: 'screen', id: 'scr_1' }, '/screens/scr_1'],
  [{ type: 'page', id: 'pag_1' }, '/pages/pag_1'],
  [{ type: 'document', id: 'doc_1' }, '/documents/doc_1?panel=thread&item=thr_1'],
  [{ type: 'section', id: 'sec_1', document_id: 'doc_1' }, '/documents/doc_1?panel=thread&item=thr_1'],
  [{ type: 'selection', document_id: 'doc_1', text: 'a' }, '/documents/doc_1?panel=thread&item=thr_1'],
])('a thread is read beside what it is about, row %#', (anchor, href) => {
  expect(threadHref(APPS, thread('thr_1', anchor))).toBe(href)
})

test('a fork is read beside the same document, and at its own address where it has a copy', () => {
  expect(relatedHref(APPS, thread('thr_1', { type: 'document', id: 'doc_1' }), 'thr_2')).toBe(
    '/documents/doc_1?panel=thread&item=thr_2',
  )
  expect(relatedHref(APPS, thread('thr_1', { type: 'screen', id: 'scr_1' }), 'thr_2')).toBe('/threads/thr_2')
})

test('a screen\u2019s thread is about no document', () => {
  expect(documentOf(thread('thr_1', { type: 'screen', id: 'scr_1' }))).toBeNull()
})

describe('forks', () => {
  const one = (id: string, parent: string | null, minute: number): FamilyThread => ({
    id,
    title: id,
    profile: 'assistant',
    parent_thread_id: parent,
    parent_message_id: null,
    status: 'open',
    run_status: 'idle',
    message_count: 1,
    created_by: 'usr_1',
    created_by_name: 'Ada',
    created_at: `2026-11-22T10:${String(minute).padStart(2, '0')}:00Z`,
  })

  test('hang below what they were forked from, with the lines that lead to them', () => {
    const branches = branchesOf([one('a', null, 0), one('c', 'a', 3), one('b', 'a', 1), one('b1', 'b', 2)])
    expect(branches.map(({ thread: { id }, depth, lines, last }) => [id, depth, lines, last])).toEqual([
      ['a', 0, [], true],
      ['b', 1, [false], false],
      ['b1', 2, [false, true], true],
      ['c', 1, [false], true],
    ])
  })

  test('of a deleted thread begin a tree of their own', () => {
    expect(branchesOf([one('b', 'gone', 1)]).map(({ depth }) => depth)).toEqual([0])
  })
})

describe('what a conversation hangs on', () => {
  const sections = [{ id: 'sec_1', heading: 'Plan', blocks: ['blk_1'] }]
  const blocks = { blk_1: { markdown: 'All of it', section_id: 'sec_1' } }
  const quote = { text: 'of it', prefix: 'All ', suffix: '' }
  const whole = { section_id: null, block_id: null, quote: null }

  test('is the selected text, the block, the section or the document', () => {
    const at = { type: 'selection', document_id: 'doc_1', section_id: 'sec_1', block_id: 'blk_1' }
    expect(anchorOf('doc_1', { section_id: 'sec_1', block_id: 'blk_1', quote }, blocks)).toEqual({
      ...at,
      text: 'of it',
    })
    expect(anchorOf('doc_1', { ...whole, block_id: 'blk_1' }, blocks)).toEqual({ ...at, text: 'All of it' })
    expect(anchorOf('doc_1', { ...whole, section_id: 'sec_1' }, blocks)).toEqual({
      type: 'section',
      id: 'sec_1',
      document_id: 'doc_1',
    })
    expect(anchorOf('doc_1', whole, blocks)).toEqual({ type: 'document', id: 'doc_1' })
  })

  test('is shown by name, and as gone where it is', () => {
    const comments = [{ id: 'cmt_1', body: 'Why?', quote, section_id: 'sec_1', block_id: 'blk_1' }]
    const shown = (anchor: Record<string, unknown>) => shownAnchor({ anchor }, sections, comments)
    expect(shown({ type: 'section', id: 'sec_1' })).toMatchObject({ kind: 'section', text: 'Plan', gone: false })
    expect(shown({ type: 'comment', id: 'cmt_1' })).toMatchObject({ kind: 'comment', text: 'of it', block_id: 'blk_1' })
    expect(shown({ type: 'comment', id: 'cmt_2' })).toMatchObject({ gone: true })
    expect(shown({ type: 'selection', block_id: 'blk_2', text: 'old' })).toMatchObject({ text: 'old', gone: true })
    expect(shown({ type: 'document', id: 'doc_1' })).toMatchObject({ kind: 'document', gone: false })
  })
})
