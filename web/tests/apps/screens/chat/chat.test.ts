import { describe, expect, it, test } from 'vitest'
import type { Message, Part, ToolCallPart } from '@outlast/sdk'
import { peekDraft, putDraft, putElement, takeDraft, watchDrafts } from '@/apps/screens/chat/draft-store'
import { firstSuggestions, nextSuggestions } from '@/apps/screens/chat/suggestions'
import { makeKeyedStore } from '@/lib/keyed-store'
import { failures, sectionsOf, summaryOf } from '@/apps/screens/chat/work-summary'

const text = (id: string, words: string): Part => ({ type: 'text', id, step: 1, text: words })
const call = (id: string, tool: string, args: unknown, change: Partial<ToolCallPart> = {}): ToolCallPart => ({
  type: 'tool_call',
  id,
  step: 1,
  call_id: id,
  tool,
  arguments: JSON.stringify(args),
  status: 'done',
  output: '',
  result: null,
  approval_id: null,
  decided_by: null,
  duration_s: 2,
  ...change,
})
const message = (role: Message['role'], words: string): Message => ({
  id: words,
  thread_id: 'thr_1',
  position: 1,
  role,
  sender_id: null,
  sender_name: null,
  status: 'complete',
  parts: [text('t', words)],
  model: null,
  profile: null,
  run_id: null,
  credits: null,
  error: null,
  stop_reason: null,
  created_at: '2026-11-20T12:00:00Z',
})

describe('an answer with work in it', () => {
  const write = call('a', 'create_or_update_files', { files: [{ path: 'x.tsx', content: '' }] })
  const again = call('b', 'create_or_update_files', {
    files: [
      { path: 'x.tsx', content: '' },
      { path: 'y.tsx', content: '' },
    ],
  })
  const check = call('c', 'terminal', { command: './node_modules/.bin/tsc --noEmit' }, { status: 'error' })

  it('is read as prose, and work between it', () => {
    const parts = [text('1', 'First'), write, text('2', ''), again, check, text('3', 'Done')]
    const sections = sectionsOf(parts, (part) => part.type !== 'text' || part.text !== '')
    expect(sections.map((one) => (one.kind === 'work' ? one.parts.map(({ id }) => id) : one.part.id))).toEqual([
      '1',
      ['a', 'b', 'c'],
      '3',
    ])
  })

  it('says its work in one line, a file that was written twice counted once', () => {
    expect(summaryOf([write, again, check])).toBe('2 files written · types checked · 6 s')
    const look = call('d', 'read_files', { paths: ['x.tsx', 'y.tsx'] }, { duration_s: 0.1 })
    expect(summaryOf([look])).toBe('2 files read')
    expect(summaryOf([{ type: 'reasoning', id: 'r', step: 1, text: 'Hm' }])).toBe('Thought briefly')
    expect(failures([write, check])).toBe(1)
  })
})

describe('words for the composer', () => {
  it('wait until they are taken, below each other, and are taken once', () => {
    let told = 0
    const stop = watchDrafts(() => (told += 1))
    putDraft('scr_1', 'Make it blue')
    putDraft('scr_1', 'and round')
    putElement('scr_1', { label: 'button', html: '<button/>', css: '' })
    stop()
    putDraft('scr_2', 'Another')
    expect(told).toBe(3)
    expect(takeDraft('scr_1')).toMatchObject({ text: 'Make it blue\n\nand round', elements: [{ label: 'button' }] })
    expect(takeDraft('scr_1')).toEqual({ text: '', elements: [] })
    expect(peekDraft('scr_2').text).toBe('Another')
  })
})

test('chips offer what was not asked for yet, and nothing after a failure', () => {
  expect(firstSuggestions()).toHaveLength(6)
  const asked = message('user', 'Make it more compact')
  const offered = nextSuggestions([asked, message('assistant', 'Done')], 'ready')
  expect(offered).toHaveLength(3)
  expect(offered.map(({ text }) => text)).not.toContain('Make it more compact')
  expect(nextSuggestions([asked], 'working')).toEqual([])
  expect(nextSuggestions([asked, message('assistant', 'Done')], 'problems')).toEqual([])
  expect(nextSuggestions([asked, { ...message('assistant', 'x'), status: 'error' }], 'failed')).toEqual([])
})

test('a shelf keeps things by key, and forgets those that are empty again', () => {
  const none: string[] = []
  const shelf = makeKeyedStore(none)
  shelf.change('a', (now) => [...now, 'one'])
  shelf.change('a', (now) => [...now, 'two'])
  expect([shelf.get('a'), shelf.get('b')]).toEqual([['one', 'two'], none])
  shelf.change('a', () => none)
  expect(shelf.get('a')).toBe(none)
})
