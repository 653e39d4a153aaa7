import { describe, expect, it } from 'vitest'
import { fits, MOST_DATA_BYTES } from '@/page-runtime/action-rules'

describe('an action’s data', () => {
  it('has to be JSON of at most 16 kB', () => {
    expect(fits({ title: 'Milk' })).toBe(true)
    expect(fits({ title: 'ü'.repeat(MOST_DATA_BYTES / 2) })).toBe(false)
    const round: Record<string, unknown> = {}
    round['round'] = round
    expect(fits(round)).toBe(false)
  })
})
