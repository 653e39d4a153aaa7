import { describe, expect, test } from 'vitest'
import type { CommentData } from '@outlast/sdk'
import { markQuotes } from '@/apps/documents/comments/comment-marks'
import { insertMention, mentionAt, mentionedIn, mentionPieces, suggestions } from '@/features/mentions/mention-text'
import { findQuote, quoteOf } from '@/apps/documents/comments/quotes'
import { placeCards } from '@/apps/documents/comments/rail-layout'
import { openByPlace, filterComments, groupComments } from '@/apps/documents/comments/comment-threads'

const comment = (id: string, more: Partial<CommentData> = {}): CommentData => ({
  id,
  document_id: 'doc_1',
  project_id: 'prj_1',
  section_id: null,
  block_id: null,
  quote: null,
  orphaned: false,
  linked_sections: [],
  parent_id: null,
  body: id,
  mentions: [],
  status: 'open',
  assigned_to: null,
  assigned_name: null,
  thread_id: null,
  by: 'usr_ada',
  by_name: 'Ada',
  resolved_by: null,
  resolved_by_name: null,
  resolved_at: null,
  created_at: '2026-11-22T10:00:00Z',
  updated_at: '2026-11-22T10:00:00Z',
  ...more,
})

describe('a quote', () => {
  const text = 'The plan is good. The plan is late. We wait.'

  test('is found again by what stands around it, not at its first place', () => {
    const start = text.lastIndexOf('The plan')
    const quote = quoteOf(text, start, start + 8)
    expect(quote).toEqual({ text: 'The plan', prefix: 'The plan is good. ', suffix: ' is late. We wait.' })
    expect(findQuote(`Well. ${text}`, quote!)).toEqual([start + 6, start + 14])
  })

  test('leaves out the space at the ends of what was selected', () => {
    expect(quoteOf(text, 3, 9)?.text).toBe('plan')
    expect(quoteOf('  \n ', 0, 3)).toBeNull()
  })

  test('is found however its white space is drawn', () => {
    expect(findQuote('one\ntwo  three', { text: 'two three', prefix: '', suffix: '' })).toEqual([4, 14])
    expect(findQuote('onetwo', { text: 'one two', prefix: '', suffix: '' })).toEqual([0, 6])
  })

  test('that was written in Markdown is found in what is drawn', () => {
    const quote = { text: 'a **very [good](https://example.org)** plan', prefix: '', suffix: '' }
    expect(findQuote('It is a very good plan.', quote)).toEqual([6, 22])
  })

  test('whose words are gone is nowhere', () => {
    expect(findQuote('Something else', { text: 'The plan', prefix: '', suffix: '' })).toBeNull()
  })
})

describe('marks', () => {
  const tree = () => ({
    type: 'root',
    children: [
      {
        type: 'element',
        tagName: 'p',
        children: [
          { type: 'text', value: 'A good ' },
          { type: 'element', tagName: 'strong', children: [{ type: 'text', value: 'plan for' }] },
          { type: 'text', value: ' all.' },
        ],
      },
    ],
  })
  const shape = (node: { value?: string; tagName?: string; properties?: object; children?: object[] }): unknown =>
    node.value ?? [
      node.tagName ?? 'root',
      Object.values(node.properties ?? {}).at(-1),
      ...(node.children ?? []).map(shape),
    ]

  test('go on through emphasis and stop inside of it', () => {
    const drawn = tree()
    markQuotes([{ id: 'cmt_1', quote: { text: 'good plan', prefix: '', suffix: '' } }])()(drawn)
    expect(shape(drawn.children[0]!)).toEqual([
      'p',
      undefined,
      'A ',
      ['mark', 'cmt_1', 'good '],
      ['strong', undefined, ['mark', 'cmt_1', 'plan'], ' for'],
      ' all.',
    ])
  })

  test('over each other belong to the one that began last', () => {
    const drawn = tree()
    const quote = (text: string) => ({ text, prefix: '', suffix: '' })
    markQuotes([
      { id: 'inner', quote: quote('good') },
      { id: 'outer', quote: quote('A good plan') },
    ])()(drawn)
    expect(shape(drawn.children[0]!)).toEqual([
      'p',
      undefined,
      ['mark', 'outer', 'A '],
      ['mark', 'inner', 'good'],
      ' ',
      ['strong', undefined, ['mark', 'outer', 'plan'], ' for'],
      ' all.',
    ])
  })
})

describe('cards beside the text', () => {
  const cards = [
    { id: 'a', wanted: 100, height: 80 },
    { id: 'b', wanted: 120, height: 80 },
    { id: 'c', wanted: 500, height: 80 },
  ]

  const placed = (list: typeof cards, chosen: string | null) => {
    const tops = placeCards(list, chosen, 10)
    return list.map(({ id }) => tops.get(id))
  }

  test('stand where they want to and make way downwards', () => {
    expect(placed(cards, null)).toEqual([100, 190, 500])
  })

  test('leave its place to the chosen one', () => {
    expect(placed(cards, 'c')).toEqual([100, 190, 500])
    expect(placed(cards.with(1, { id: 'b', wanted: 300, height: 80 }), 'b')).toEqual([100, 300, 500])
  })

  test('push the chosen one down a little rather than out of sight', () => {
    expect(placed(cards.with(1, { id: 'b', wanted: 140, height: 80 }), 'b')).toEqual([100, 190, 500])
  })

  test('go up out of sight where the chosen one would come too far from its words', () => {
    const crowd = [0, 10, 20, 30].map((wanted, at) => ({ id: 'abcd'[at]!, wanted, height: 80 }))
    expect(placed(crowd, 'd')).toEqual([-180, -90, 0, 90])
    expect(placed(crowd, null)).toEqual([0, 90, 180, 270])
  })
})

describe('talks', () => {
  const outline = [
    { id: 'sec_1', heading: 'One', blocks: ['blk_1', 'blk_2'] },
    { id: 'sec_2', heading: 'Two', blocks: ['blk_3'] },
  ]

  test('come in the order of the text, with their answers by time', () => {
    const talks = groupComments([
      comment('gone', { orphaned: true }),
      comment('late', { section_id: 'sec_2', block_id: 'blk_3' }),
      comment('second', { parent_id: 'late', created_at: '2026-11-22T12:00:00Z' }),
      comment('first', { parent_id: 'late', created_at: '2026-11-22T11:00:00Z' }),
      comment('early', { section_id: 'sec_1', block_id: 'blk_2' }),
      comment('section', { section_id: 'sec_1' }),
      comment('whole'),
      comment('done', { status: 'resolved' }),
    ])
    const open = filterComments(talks, 'open', outline)
    expect(open.map(({ root }) => root.id)).toEqual(['whole', 'section', 'early', 'late', 'gone'])
    expect(open[3]?.answers.map(({ id }) => id)).toEqual(['first', 'second'])
    expect(filterComments(talks, 'resolved', outline).map(({ root }) => root.id)).toEqual(['done'])
    expect(filterComments(talks, 'all', outline)).toHaveLength(6)
  })

  test('on a block stay the same list while only others change', () => {
    const one = comment('one', { section_id: 'sec_1', block_id: 'blk_1' })
    const before = openByPlace(groupComments([one]))
    const after = openByPlace(groupComments([one, comment('two', { section_id: 'sec_2' })]), before)
    expect(after.get('blk_1')).toBe(before.get('blk_1'))
    expect(after.get('sec_2')).toHaveLength(1)
    expect(openByPlace(groupComments([{ ...one, status: 'resolved' }]), before).get('blk_1')).toBeUndefined()
  })
})

describe('naming somebody', () => {
  const people = [
    { id: 'agent', name: 'agent' },
    { id: 'usr_1', name: 'Ada' },
    { id: 'usr_2', name: 'Ada Lovelace' },
    { id: 'usr_3', name: 'Bob Ross' },
  ]

  test('begins at an @ before which no word stands', () => {
    expect(mentionAt('Hello @Ad', 9)).toEqual({ from: 6, typed: 'Ad' })
    expect(mentionAt('@Bob R', 6)).toEqual({ from: 0, typed: 'Bob R' })
    expect(mentionAt('ada@example.org', 15)).toBeNull()
    expect(mentionAt('@ada\nmore', 9)).toBeNull()
    expect(mentionAt('@ ', 2)).toBeNull()
  })

  test('offers those whose name, then those of whose words one, begins so', () => {
    expect(suggestions(people, 'a').map(({ id }) => id)).toEqual(['agent', 'usr_1', 'usr_2'])
    expect(suggestions(people, 'ro').map(({ id }) => id)).toEqual(['usr_3'])
    expect(suggestions(people, 'ada l').map(({ id }) => id)).toEqual(['usr_2'])
    expect(suggestions(people, 'you are')).toEqual([])
  })

  test('writes the name out with one space behind it', () => {
    expect(insertMention('Hi @Ad!', 3, 6, 'Ada')).toEqual({ text: 'Hi @Ada !', caret: 8 })
    expect(insertMention('Hi @Ad there', 3, 6, 'Ada')).toEqual({ text: 'Hi @Ada there', caret: 8 })
  })

  test('finds the longest names, in any case, not inside of words', () => {
    expect(mentionedIn('@ada lovelace and @Bob Ross, not @adam or x@ada', people)).toEqual(['usr_2', 'usr_3'])
    expect(mentionPieces('Ask @agent now', people)).toEqual([
      { text: 'Ask ', who: null },
      { text: '@agent', who: 'agent' },
      { text: ' now', who: null },
    ])
  })
})
