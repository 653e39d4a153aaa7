import { describe, expect, it } from 'vitest'
import { readActions } from '@/apps/pages/action-message'

describe('a message that tells of actions', () => {
  it('is read as its actions, in order', () => {
    expect(readActions('1. Action: close Data: {"issue":"ATL-7"}\n2. Action: refresh Data: {}')).toEqual([
      { name: 'close', data: { issue: 'ATL-7' } },
      { name: 'refresh', data: {} },
    ])
  })

  it('is none as soon as a person wrote a word', () => {
    expect(readActions('show my open issues')).toBeNull()
    expect(readActions('1. Action: close Data: {"issue":"ATL-7"}\nplease')).toBeNull()
    expect(readActions('1. Action: close Data: {broken}')).toBeNull()
    expect(readActions('')).toBeNull()
  })
})
