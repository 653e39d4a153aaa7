import { describe, expect, it } from 'vitest'
import { foldActions, foldedText } from '@/apps/pages/action-text'

const inc = { name: 'inc', data: {}, by: 'usr_1' }

describe('what was done on a page, in few lines', () => {
  it('is one line for the same, with how often', () => {
    const groups = foldActions([inc, { ...inc, name: 'open', data: { id: 7 } }, inc, inc])
    expect(groups.map(foldedText)).toEqual(['inc ×3', 'open: id 7'])
    expect(groups[0]!.actions).toHaveLength(3)
  })
  it('keeps apart what different people did', () => {
    expect(foldActions([inc, { ...inc, by: 'usr_2' }]).map(foldedText)).toEqual(['inc', 'inc'])
  })
})
