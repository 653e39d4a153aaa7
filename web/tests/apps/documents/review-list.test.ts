import { describe, expect, it } from 'vitest'
import type { EditData, MergeHunk, ProposalData } from '@outlast/sdk'
import { chosenText, conflictsIn } from '@/apps/documents/review-hunks'
import {
  endOf,
  gistOf,
  nextOpen,
  NOTHING,
  numberOf,
  placeOf,
  reviewList,
  startOf,
  supersedingVersion,
  TOP,
} from '@/apps/documents/review-list'
import { countsOf } from '@/apps/documents/proposal-card'

const edit = (id: string, change: Partial<EditData> = {}): EditData => ({
  id,
  proposal_id: 'prp_1',
  document_id: 'doc_1',
  ordinal: 0,
  op: 'replace',
  block_id: null,
  section_id: null,
  after_id: null,
  heading: null,
  level: null,
  old_text: 'old',
  new_text: 'new',
  state: 'open',
  applied_text: null,
  decided_by: null,
  decided_by_name: null,
  decided_at: null,
  version: null,
  superseded_by: null,
  reason: '',
  reopened: 0,
  origin_id: null,
  ...change,
})
const proposal = (edits: EditData[], change: Partial<ProposalData> = {}): ProposalData => ({
  id: 'prp_1',
  project_id: 'prj_1',
  document_id: 'doc_1',
  thread_id: 'thr_1',
  message_id: null,
  run_id: null,
  summary: '',
  state: edits.some(({ state }) => state === 'open') ? 'open' : 'closed',
  edits,
  created_at: '',
  ...change,
})
const section = (id: string, blocks: string[]) => ({
  id,
  document_id: 'doc_1',
  heading: id,
  level: 1,
  version: 1,
  lock: null,
  blocks,
})
const content = { order: ['s1', 's2'], sections: { s1: section('s1', ['a', 'b']), s2: section('s2', ['c']) } }
const listOf = (proposals: ProposalData[], seen: string[] = []) => reviewList(proposals, content, new Set(seen), {})
const ids = (edits: readonly { edit: EditData }[]) => edits.map(({ edit }) => edit.id)

describe('the list of a review', () => {
  it('is in the order of the document, whatever order the edits were proposed in', () => {
    const edits = [
      edit('last', { op: 'insert_section', after_id: 's2' }),
      edit('at c', { block_id: 'c' }),
      edit('behind a', { op: 'insert', section_id: 's1', after_id: 'a' }),
      edit('at a', { op: 'delete', block_id: 'a' }),
      edit('first in s1', { op: 'insert', section_id: 's1' }),
      edit('before all', { op: 'insert_section' }),
      edit('of a block that went', { block_id: 'gone' }),
    ]
    const inOrder = ['before all', 'first in s1', 'at a', 'behind a', 'at c', 'last', 'of a block that went']
    expect(ids(listOf([proposal(edits)]).items)).toEqual(inOrder)
  })

  it('keeps what was decided while one looks on, and leaves out what was closed before', () => {
    const decided = proposal([edit('e', { state: 'accepted' })])
    expect(listOf([decided]).items).toEqual([])
    expect(ids(listOf([decided], ['prp_1']).items)).toEqual(['e'])
  })

  it('tells overtaken edits apart, and does not count them', () => {
    const list = listOf([proposal([edit('e'), edit('old', { state: 'superseded' })])])
    expect([ids(list.items), ids(list.superseded), list.open]).toEqual([['e'], ['old'], 1])
  })

  it('can be of one proposal or one conversation', () => {
    const all = [
      proposal([edit('e')]),
      proposal([edit('f', { proposal_id: 'prp_2' })], { id: 'prp_2', thread_id: 'thr_2' }),
    ]
    expect(ids(reviewList(all, content, new Set(), { proposalId: 'prp_2' }).items)).toEqual(['f'])
    expect(ids(reviewList(all, content, new Set(), { threadId: 'thr_1' }).items)).toEqual(['e'])
  })

  it('gives a block the same list until its own edits change', () => {
    const [one, other] = [edit('e', { block_id: 'a' }), edit('f', { block_id: 'b' })]
    const before = listOf([proposal([one, other])])
    const after = reviewList([proposal([one, { ...other, state: 'rejected' }])], content, new Set(), {}, before)
    expect(after.places.get('a')).toBe(before.places.get('a'))
    expect(after.places.has('b')).toBe(false)
  })

  it('knows where moved blocks would be', () => {
    const moves = [
      edit('e', { op: 'move', block_id: 'a', section_id: 's2', after_id: 'c' }),
      edit('f', { op: 'move', block_id: 'b', section_id: 's2' }),
    ]
    const { arrivals } = listOf([proposal(moves)])
    expect([...arrivals.keys()]).toEqual(['c', startOf('s2')])
  })
})

describe('an edit is drawn', () => {
  it.each([
    [edit('e', { block_id: 'a' }), 'a'],
    [edit('e', { op: 'insert', section_id: 's1', after_id: 'a' }), 'a'],
    [edit('e', { op: 'insert', section_id: 's1' }), startOf('s1')],
    [edit('e', { op: 'insert_section', after_id: 's1' }), endOf('s1')],
    [edit('e', { op: 'insert_section' }), TOP],
  ])('at its place', (one, place) => {
    expect(placeOf(one)).toBe(place)
  })
})

describe('stepping', () => {
  const list = listOf([
    proposal([edit('1'), edit('2', { state: 'accepted' }), edit('3'), edit('4', { state: 'rejected' })]),
  ])
  it('goes from open edit to open edit, around the ends', () => {
    expect(nextOpen(list, '1', 1)).toBe('3')
    expect(nextOpen(list, '3', 1)).toBe('1')
    expect(nextOpen(list, '1', -1)).toBe('3')
    expect(nextOpen(list, null, 1)).toBe('1')
    expect(nextOpen(list, null, -1)).toBe('3')
    expect(nextOpen(NOTHING, null, 1)).toBeNull()
  })
  it('says which of how many', () => {
    expect([numberOf(list, '3'), list.items.length]).toEqual([3, 4])
    expect(numberOf(list, 'gone')).toBe(0)
  })
})

describe('a line about an edit', () => {
  it('is its first words, without marks', () => {
    expect(gistOf(edit('e', { new_text: '\n- **Green** flag: `clear`\n- Red' }))).toBe('Green flag: clear')
    expect(gistOf(edit('e', { op: 'delete', old_text: '> Ring the bell' }))).toBe('Ring the bell')
    expect(gistOf(edit('e', { op: 'insert', new_text: '**Children** wear' }))).toBe('Children wear')
    expect(gistOf(edit('e', { op: 'insert_section', heading: 'Weather' }))).toBe('Weather')
  })
  it('says by which version it was overtaken', () => {
    expect(supersedingVersion(edit('e', { superseded_by: 'version:12' }))).toBe(12)
    expect(supersedingVersion(edit('e', { superseded_by: 'edt_1' }))).toBeNull()
  })
  it('counts states in words', () => {
    expect(countsOf({ open: 2, accepted: 0, rejected: 1, superseded: 0 })).toBe('2 open, 1 rejected')
  })
})

describe('a conflict', () => {
  const hunk = (kind: MergeHunk['kind'], base: string, current: string, wanted: string) => ({
    kind,
    base,
    current,
    wanted,
  })
  const hunks = [
    hunk('same', 'The ', 'The ', 'The '),
    hunk('conflict', 'old', 'grey', 'blue'),
    hunk('same', ' boat ', ' boat ', ' boat '),
    hunk('wanted', 'sails', 'sails', 'rows'),
    hunk('current', '.', '!', '.'),
  ]
  it('has one choice for each place that both changed', () => {
    expect(conflictsIn(hunks)).toEqual([1])
  })
  it('is what was chosen, with what only one side changed', () => {
    expect(chosenText(hunks, { 1: 'current' })).toBe('The grey boat rows!')
    expect(chosenText(hunks, { 1: 'wanted' })).toBe('The blue boat rows!')
    expect(chosenText(hunks, { 1: 'both' })).toBe('The grey blue boat rows!')
  })
})

describe('copies of edits in forks', () => {
  const origin = edit('e')
  const copy = edit('f', { proposal_id: 'prp_2', origin_id: 'e' })
  const later = edit('g', { proposal_id: 'prp_3', origin_id: 'e' })
  const all = (...edits: EditData[]) =>
    edits.map((one) => proposal([one], { id: one.proposal_id, thread_id: `thr_${one.id}` }))

  it('are not shown beside the original in the review of the document', () => {
    const list = listOf(all(later, copy, origin))
    expect([ids(list.items), list.open]).toEqual([['e'], 1])
  })
  it('are shown in the fork', () => {
    const list = reviewList(all(origin, copy), content, new Set(), { threadId: 'thr_f' })
    expect(ids(list.items)).toEqual(['f'])
  })
  it('are shown once the original is decided, or they say something else', () => {
    expect(ids(listOf(all({ ...origin, state: 'rejected' }, later, copy)).items)).toEqual(['f'])
    expect(ids(listOf(all(origin, { ...copy, new_text: 'other' })).items)).toEqual(['e', 'f'])
  })
})
