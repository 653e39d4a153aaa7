import { describe, expect, it } from 'vitest'
import { folded, foldedWords } from '../src/apps/pages/action-words'

const inc = { name: 'inc', data: {}, by: 'usr_1' }

describe('what was done on a page, in few lines', () => {
  it('is one line for the same, with how often', () => {
    const groups = folded([inc, { ...inc, name: 'open', data: { id: 7 } }, inc, inc])
    expect(groups.map(foldedWords)).toEqual(['inc ×3', 'open: id 7'])
    expect(groups[0]!.actions).toHaveLength(3)
  })
  it('keeps apart what different people did', () => {
    expect(folded([inc, { ...inc, by: 'usr_2' }]).map(foldedWords)).toEqual(['inc', 'inc'])
  })
})
