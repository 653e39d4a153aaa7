import { describe, expect, it } from 'vitest'
import {
  Conflict,
  Unreachable,
  type BlockData,
  type Decision,
  type DocumentChange,
  type DocumentContent,
  type DocumentStore,
  type EditData,
  type MergeData,
  type ProposalData,
  type SectionData,
} from '@outlast/sdk'
import type { Standing } from '../src/features/documents/review-merge'
import { begun, clashNow, decisionOf, lookedAgain, opening, resultOf } from '../src/features/documents/review-seen'
import { Review } from '../src/features/documents/review-state'
import { backwards } from '../src/features/documents/review-undo'

const edit: EditData = {
  id: 'edt_1',
  proposal_id: 'prp_1',
  document_id: 'doc_1',
  ordinal: 0,
  op: 'replace',
  block_id: 'a',
  section_id: 's1',
  after_id: null,
  heading: null,
  level: null,
  old_text: 'The old boat.',
  new_text: 'The boat.',
  state: 'open',
  applied_text: null,
  decided_by: null,
  decided_by_name: null,
  decided_at: null,
  version: null,
  superseded_by: null,
  reason: '',
}
const block = (id: string, markdown: string): BlockData => ({
  id,
  section_id: 's1',
  kind: 'paragraph',
  markdown,
  version: 1,
  editor_kind: 'person',
  editor_id: 'usr_2',
  editor_name: 'Bob',
  updated_at: '',
})
const merge: MergeData = {
  base: 'The old boat.',
  current: 'The old boat!',
  wanted: 'The boat.',
  text: 'The boat!',
  hunks: [],
}
const merged: Standing = { kind: 'merged', merge: { ...merge, text: 'The boat!' }, block: block('a', 'Newer still.') }
const section = (id: string, ...blocks: BlockData[]): SectionData => ({
  id,
  document_id: 'doc_1',
  heading: id,
  level: 1,
  version: 1,
  lock: null,
  blocks: blocks.map((one) => ({ ...one, section_id: id })),
})
const problem = (code: string, fields: Record<string, unknown> = {}) => ({ code, status: 409, detail: code, fields })
const changed = (fields: Record<string, unknown> = {}) => new Conflict(problem('text_changed', fields))

/** An open document, as far as a review can tell: `refuse` is thrown by the next decision. */
class Fake {
  decisions: Decision[] = []
  changes: readonly DocumentChange[] = []
  restored: unknown[] = []
  refuse: Error | null = null
  newer = false
  documentId = 'doc_1'
  proposals: ProposalData[] = [
    {
      id: 'prp_1',
      project_id: 'prj_1',
      document_id: 'doc_1',
      thread_id: 'thr_1',
      message_id: null,
      run_id: null,
      summary: '',
      state: 'open',
      edits: [edit],
      created_at: '',
    },
  ]
  content: DocumentContent = {
    version: 4,
    order: ['s1'],
    sections: { s1: { ...section('s1'), blocks: ['a'] } },
    blocks: { a: block('a', 'The very old boat.') },
  }
  get = () => ({ content: this.content, proposals: this.proposals, deciding: {} })
  subscribe = () => () => undefined
  decide = async (_: string, decision: Decision) => {
    this.decisions.push(decision)
    if (this.refuse !== null) throw this.refuse
    return { version: 5, edits: [{ ...edit, state: 'accepted', applied_text: 'The boat.' }] }
  }
  change = async (changes: readonly DocumentChange[]) => void (this.changes = changes)
  client = {
    documents: {
      restore: async (...what: unknown[]) => {
        this.restored = what
        if (this.newer) throw changed()
      },
      version: async (_: string, version: number) => ({
        content: [section('s1', block('a', version === 4 ? 'The old boat.' : 'The boat.'))],
      }),
    },
  }
  review = new Review(this as unknown as DocumentStore)
}

describe('who changes a proposed text before accepting it', () => {
  it('tells what the text was made of, not what is there by now', () => {
    const typed = { ...opening(edit, merged), text: 'My boat!' }
    expect(decisionOf(edit, typed)).toEqual({ text: 'My boat!', old: 'The old boat!' })
  })
  it('tells it too where the text was as the agent saw it', () => {
    const typed = { ...opening(edit, { kind: 'fresh' }), text: 'My boat.' }
    expect(decisionOf(edit, typed)).toEqual({ text: 'My boat.', old: 'The old boat.' })
  })
  it('accepts what is proposed where nothing was changed', () => {
    expect(decisionOf(edit, opening(edit, merged))).toEqual({})
  })
  it('goes on with what they typed after the words of another stood in the way', async () => {
    const { review, ...fake } = new Fake()
    const hunks = [{ kind: 'conflict', base: 'old', current: 'very old', wanted: 'My' }]
    const fields = { base: 'The old boat.', current: 'The very old boat.', wanted: 'My boat.', hunks }
    Object.assign(review.store, { refuse: changed({ ...fields, editor_id: 'usr_2' }) })
    expect(await review.decide(edit, 'accept', { text: 'My boat.', old: 'The old boat.' })).toBe(false)
    expect(fake.decisions).toEqual([{ decision: 'accept', text: 'My boat.', old: 'The old boat.' }])
    const { resolving, editing, refused } = review.get()
    expect(resolving?.work?.clash).toMatchObject({ own: true, who: 'Bob', merge: { wanted: 'My boat.' } })
    expect([editing, refused]).toEqual([null, null])
    review.stopResolving()
    review.resolve('edt_1')
    expect(review.get().resolving?.work?.clash.merge.wanted).toBe('My boat.')
  })
  it('finds what they typed in the editor after the server did not answer', async () => {
    const { review } = new Fake()
    const typed = { text: 'My boat.', proposed: 'The boat.', seen: 'The old boat.' }
    review.keepTyped('edt_1', typed)
    const unreachable = new Unreachable({ code: 'unreachable', status: 0, detail: 'The server does not answer.' })
    Object.assign(review.store, { refuse: unreachable })
    await review.decide(edit, 'accept', decisionOf(edit, typed))
    expect(review.get().editing).toBe('edt_1')
    expect(review.typed('edt_1')).toEqual(typed)
    expect(review.get().refused?.error).toBe(unreachable)
  })
  it('can still read what they typed where somebody else decided first', async () => {
    const { review } = new Fake()
    Object.assign(review.store, { refuse: new Conflict(problem('edit_decided')) })
    await review.decide(edit, 'accept', { text: 'My boat.', old: 'The old boat.' })
    const { work } = review.get().resolving!
    expect([resultOf(work!), work!.clash.merge.current]).toEqual(['My boat.', 'The very old boat.'])
  })
})

describe('a conflict that somebody decides', () => {
  const hunks: MergeData['hunks'] = [
    { kind: 'same', base: 'The ', current: 'The ', wanted: 'The ' },
    { kind: 'conflict', base: 'old', current: 'grey', wanted: 'blue' },
  ]
  const conflict = (current: string): Standing => ({
    kind: 'conflict',
    merge: { base: 'The old', current, wanted: 'The blue', text: null, hunks },
    block: block('a', current),
  })
  const [first, second] = [clashNow(edit, conflict('The grey'))!, clashNow(edit, conflict('The green'))!]

  it('keeps the written result when one looks again, and shows it beside the newest text', () => {
    const again = lookedAgain({ ...begun(first), written: 'The red' }, second)
    expect([resultOf(again), again.clash.merge.current, again.before]).toEqual(['The red', 'The green', 'The grey'])
  })
  it('keeps what was chosen as the result when one looks again', () => {
    expect(resultOf(lookedAgain({ ...begun(first), choices: { 1: 'both' } }, second))).toBe('The grey blue')
  })
  it('begins anew with the newest text where nothing was done yet', () => {
    expect(lookedAgain(begun(first), second)).toEqual(begun(second))
  })
  it('does not begin while the newest text is being asked for', () => {
    expect(clashNow(edit, { kind: 'asking' })).toBeNull()
  })
})

describe('taking back what was accepted', () => {
  const accepted = async () => {
    const fake = new Fake()
    await fake.review.decide(edit, 'accept')
    return fake
  }
  it('is the version before only where nobody has written since', async () => {
    const fake = await accepted()
    expect(await fake.review.undo()).toBe('The text is as it was before.')
    expect(fake.restored).toEqual(['doc_1', 4, 5])
    expect(fake.changes).toEqual([])
  })
  it('leaves what others wrote since, and says so', async () => {
    const fake = await accepted()
    fake.newer = true
    expect(await fake.review.undo()).toContain('What others have changed since then stays')
    expect(fake.changes).toEqual([{ op: 'edit_block', block_id: 'a', markdown: 'The old boat.', old: 'The boat.' }])
  })

  const was = [section('s1', block('a', 'A'), block('b', 'B'), block('c', 'C'))]
  it('removes what was put in, with the text it had then', () => {
    const became = [
      section('s1', block('a', 'A'), block('n', 'New'), block('b', 'B'), block('c', 'C')),
      section('s2', block('m', 'More')),
    ]
    expect(backwards(was, became, [], 5)).toEqual([
      { op: 'delete_block', block_id: 'n', old: 'New' },
      { op: 'delete_section', section_id: 's2', seen: 5 },
    ])
  })
  it('puts in what was removed, at its place', () => {
    expect(backwards(was, [section('s1', block('a', 'A'))], [], 5)).toEqual([
      { op: 'insert_block', section_id: 's1', after: 'a', markdown: 'B', ref: 'back.b' },
      { op: 'insert_block', section_id: 's1', after: 'back.b', markdown: 'C', ref: 'back.c' },
    ])
  })
  it('moves back what was moved, and nothing that only has another neighbour', () => {
    const became = [section('s1', block('b', 'B'), block('c', 'C'), block('a', 'A'))]
    expect(backwards(was, became, ['a'], 5)).toEqual([
      { op: 'move_block', block_id: 'a', section_id: 's1', after: null },
    ])
  })
})
