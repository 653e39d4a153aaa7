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
  type LeftEdit,
  type MergeData,
  type ProposalData,
  type SectionData,
} from '@outlast/sdk'
import type { Standing } from '@/apps/documents/review-standing'
import { begun, clashNow, decisionOf, lookedAgain, opening, resultOf } from '@/apps/documents/review-seen'
import { Review } from '@/apps/documents/review-state'

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
  reopened: 0,
  origin_id: null,
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
  reopened: unknown[] = []
  left: LeftEdit[] = []
  refuse: Error | null = null
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
    return this.#answer(decision.decision === 'accept' ? 'accepted' : 'rejected')
  }
  decideAll = async () => this.#answer(this.left.length > 0 ? 'open' : 'accepted')
  reopen = async (proposalId: string, edits: readonly EditData[]) => {
    this.reopened.push([proposalId, edits.map(({ id }) => id)])
    return this.#answer('open')
  }
  change = async (changes: readonly DocumentChange[]) => void (this.changes = changes)
  #answer = (state: EditData['state']) => ({ version: 5, edits: [{ ...edit, state }], left: this.left })
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
    const unreachable = new Unreachable({ code: 'unreachable', status: 0, detail: 'The server does not respond.' })
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

describe('taking back the last decision', () => {
  // Z once wrote what had been rejected into the document.
  it.each(['accept', 'reject'] as const)(
    'opens the edit again after %s, and writes nothing itself',
    async (decision) => {
      const fake = new Fake()
      await fake.review.decide(edit, decision)
      expect(await fake.review.undo()).toContain('The edit is open again')
      expect(fake.reopened).toEqual([['prp_1', ['edt_1']]])
      expect(fake.changes).toEqual([])
      expect(fake.review.get()).toMatchObject({ undo: null, current: 'edt_1' })
    },
  )
  it('opens all that were accepted together, of every proposal', async () => {
    const fake = new Fake()
    expect(await fake.review.decideAll('accept')).toBe(true)
    await fake.review.undo()
    expect(fake.reopened).toEqual([['prp_1', ['edt_1']]])
  })
  it('stays at what could not be accepted', async () => {
    const fake = new Fake()
    fake.left = [{ edit_id: 'edt_1', code: 'text_changed', message: 'Its text changed.' }]
    expect(await fake.review.decideAll('accept')).toBe(false)
    expect(fake.review.get()).toMatchObject({ current: 'edt_1', refused: null, undo: null })
  })
})
