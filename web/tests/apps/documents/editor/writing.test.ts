import { describe, expect, it } from 'vitest'
import type { DocumentContent, DocumentVersion } from '@outlast/sdk'
import { wordDiff } from '@/components/word-diff'
import { composed, hunksOf } from '@/apps/documents/editor/merge-hunks'
import { enter, indent, marked, reshape, sourcePlace } from '@/apps/documents/editor/writing'
import { groupsOf, summaryOf } from '@/apps/documents/history-groups'
import { blockMoved, sectionFamily, sectionMoves, sectionStepped } from '@/apps/documents/block-moves'
import { titleOf } from '@/apps/documents/markdown-files'
import { withNewRows } from '@/apps/documents/row-order'

/** `|` is the caret, or both ends of what is selected. */
const at = (text: string) => {
  const [before = '', middle = '', after] = text.split('|')
  return after === undefined
    ? { text: before + middle, start: before.length, end: before.length }
    : { text: before + middle + after, start: before.length, end: before.length + middle.length }
}

describe('Enter', () => {
  it('ends a paragraph, and splits it in its middle', () => {
    expect(enter(at('Done.|'))).toEqual({ kind: 'split', before: 'Done.', after: '' })
    expect(enter(at('One. |Two.'))).toEqual({ kind: 'split', before: 'One.', after: 'Two.' })
  })

  it('goes on with a list, and leaves it at an empty item', () => {
    expect(enter(at('- one|'))).toMatchObject({ kind: 'write', text: '- one\n- ' })
    expect(enter(at('9. nine|'))).toMatchObject({ kind: 'write', text: '9. nine\n10. ' })
    expect(enter(at('- [x] done|'))).toMatchObject({ kind: 'write', text: '- [x] done\n- [ ] ' })
    expect(enter(at('- one\n- |'))).toEqual({ kind: 'split', before: '- one', after: '' })
  })

  it('is a new line in code, and leaves it behind the closing fence', () => {
    expect(enter(at('```\na|\n```'))).toMatchObject({ kind: 'write', text: '```\na\n\n```' })
    expect(enter(at('```\na\n```|'))).toEqual({ kind: 'split', before: '```\na\n```', after: '' })
  })
})

describe('shapes and marks', () => {
  it('makes the words another shape, and takes the same shape off again', () => {
    expect(reshape(at('one\ntwo|'), 'numbers').text).toBe('1. one\n2. two')
    expect(reshape(at('- one\n- two|'), 'quote').text).toBe('> one\n> two')
    expect(reshape(at('## Why|'), 'h2').text).toBe('Why')
    expect(reshape(at('x = 1|'), 'code').text).toBe('```\nx = 1\n```')
  })

  it('marks what is selected, and takes the mark off again', () => {
    expect(marked(at('a |word| b'), 'bold')).toEqual(at('a **|word|** b'))
    expect(marked(at('a **|word|** b'), 'bold')).toEqual(at('a |word| b'))
    expect(marked(at('see |this|'), 'link').text).toBe('see [this](https://)')
  })

  it('moves list items in and out', () => {
    expect(indent(at('- one\n- two|'), false)).toEqual(at('- one\n  - two|'))
    expect(indent(at('words|'), false)).toBeNull()
  })

  it('finds the place in the Markdown that was clicked in what is shown', () => {
    expect(sourcePlace('a **bold** word', 'a bold word', 6)).toBe('a **bold'.length)
    expect(sourcePlace('- one\n- two', 'one\ntwo', 5)).toBe('- one\n- t'.length)
  })
})

describe('two changes of one text', () => {
  const meeting = {
    base: 'We ship two.',
    current: 'We ship three.',
    wanted: 'We ship one.',
    hunks: [
      { kind: 'same' as const, base: 'We ship ', current: 'We ship ', wanted: 'We ship ' },
      { kind: 'conflict' as const, base: 'two', current: 'three', wanted: 'one' },
      { kind: 'same' as const, base: '.', current: '.', wanted: '.' },
    ],
  }

  it("are one's own words until something else is chosen", () => {
    const hunks = hunksOf(meeting, meeting.wanted)
    expect(composed(hunks, {})).toBe('We ship one.')
    expect(composed(hunks, { 1: 'current' })).toBe('We ship three.')
    expect(composed(hunks, { 1: 'both' })).toBe('We ship three one.')
  })

  it('are one place where somebody has typed on since', () => {
    expect(hunksOf(meeting, 'We ship one, soon.')).toEqual([
      { kind: 'conflict', base: meeting.base, current: meeting.current, wanted: 'We ship one, soon.' },
    ])
  })
})

/** Sections by `id:level` with their blocks. */
const content = (...sections: [string, number, ...string[]][]): DocumentContent => ({
  version: 1,
  order: sections.map(([id]) => id),
  sections: Object.fromEntries(
    sections.map(([id, level, ...blocks]) => [
      id,
      { id, document_id: 'doc_1', heading: id, level, version: 1, lock: null, blocks },
    ]),
  ),
  blocks: Object.fromEntries(
    sections.flatMap(([section_id, , ...blocks]) =>
      blocks.map((id) => [
        id,
        {
          id,
          section_id,
          kind: 'paragraph' as const,
          markdown: id,
          version: 1,
          editor_kind: 'person' as const,
          editor_id: null,
          editor_name: null,
          updated_at: '',
        },
      ]),
    ),
  ),
})

describe('moving', () => {
  const doc = content(['intro', 0, 'i'], ['a', 1, 'a1', 'a2'], ['a.b', 2, 'b1'], ['c', 1])

  it('takes a block by one, over the edge of its section into the next', () => {
    expect(blockMoved(doc, 'a2', -1)).toMatchObject({ section_id: 'a', after: null })
    expect(blockMoved(doc, 'a2', 1)).toMatchObject({ section_id: 'a.b', after: null })
    expect(blockMoved(doc, 'b1', -1)).toMatchObject({ section_id: 'a', after: 'a2' })
    expect(blockMoved(doc, 'i', -1)).toBeNull()
  })

  it('takes a section with those below it, never into itself, never before the beginning', () => {
    expect(sectionFamily(doc, 'a')).toEqual(['a', 'a.b'])
    expect(sectionMoves(doc, 'a', 'a.b')).toEqual([])
    expect(sectionStepped(doc, 'a', 1)).toEqual([
      { op: 'move_section', section_id: 'a', after: 'c' },
      { op: 'move_section', section_id: 'a.b', after: 'a' },
    ])
    expect(sectionStepped(doc, 'c', -1)).toEqual([{ op: 'move_section', section_id: 'c', after: 'intro' }])
    expect(sectionStepped(doc, 'a', -1)).toEqual([])
  })

  it('keeps new blocks where they were begun', () => {
    const fresh = [
      { key: 'n1', after: 'a1' },
      { key: 'n2', after: 'n1' },
      { key: 'n3', after: null },
    ]
    expect(withNewRows(['a1', 'a2'], fresh)).toEqual(['n3', 'a1', 'n1', 'n2', 'a2'])
    expect(withNewRows(['n1', 'a2'], fresh.slice(0, 1))).toEqual(['n1', 'a2'])
  })
})

describe('history', () => {
  const version = (number: number, by: string, minute: number, kind: DocumentVersion['kind'] = 'edit') => ({
    document_id: 'doc_1',
    version: number,
    kind,
    summary: `change ${number}`,
    by,
    by_name: by,
    thread_id: null,
    message_id: null,
    run_id: null,
    proposal_id: null,
    sections: [],
    blocks: [`b${number % 2}`],
    created_at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  })

  it('is told in one entry for what one person wrote in one go', () => {
    const groups = groupsOf([
      version(6, 'Ada', 40),
      version(5, 'Bob', 39),
      version(4, 'Ada', 20),
      version(3, 'Ada', 12),
      version(2, 'Ada', 0),
      version(1, 'Ada', 0, 'created'),
    ])
    expect(groups.map(({ oldest, newest }) => [oldest, newest])).toEqual([
      [6, 6],
      [5, 5],
      [3, 4],
      [2, 2],
      [1, 1],
    ])
    expect(groups.map(summaryOf).slice(0, 3)).toEqual(['change 6', 'change 5', 'Edited 2 blocks'])
  })
})

describe('words', () => {
  it('differ one by one, or as a whole where nothing is left', () => {
    expect(wordDiff('a b c', 'a x c').map(({ state }) => state)).toEqual(['same', 'removed', 'added', 'same'])
    expect(wordDiff('same', 'same')).toEqual([{ text: 'same', state: 'same' }])
  })

  it('give an imported document its title', () => {
    expect(titleOf('intro\n\n## The *plan*\n', 'notes.md')).toBe('The plan')
    expect(titleOf('```\n# no\n```\n', 'my-notes.md')).toBe('my notes')
    expect(titleOf('just some words', null)).toBe('just some words')
  })
})
