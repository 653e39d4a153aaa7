import { expect, it } from 'vitest'
import type { DocumentStore, EditData } from '@outlast/sdk'
import { Review } from '@/apps/documents/review-state'

const EDIT = { id: 'edt_1', proposal_id: 'prp_1', state: 'open' } as EditData

/** A store whose answers come when the test lets them. */
function held() {
  const reopened: string[] = []
  let answer = (_edits: EditData[]): void => undefined
  const decided = new Promise<{ edits: EditData[] }>((done) => (answer = (edits) => done({ edits })))
  const store = {
    get: () => ({ proposals: [], content: { order: [], sections: {} }, deciding: {} }),
    decide: () => decided,
    reopen: (proposalId: string, edits: readonly EditData[]) => {
      reopened.push(`${proposalId} ${edits.map(({ id }) => id).join()}`)
      return Promise.resolve({ edits })
    },
  }
  return { review: new Review(store as unknown as DocumentStore), reopened, answer }
}

it('takes back a decision whose answer is still on its way', async () => {
  const { review, reopened, answer } = held()
  void review.decide(EDIT, 'reject')
  const said = review.undo()
  expect(reopened).toEqual([])
  answer([{ ...EDIT, state: 'rejected' }])
  expect(await said).toBe('The edit is open again.')
  expect(reopened).toEqual(['prp_1 edt_1'])
})

it('says that there is nothing to take back', async () => {
  expect(await held().review.undo()).toBe('There is no decision to undo.')
})
