import { describe, expect, it } from 'vitest'
import { isRepeated, type Acted } from '@/page-runtime/actions'

// The tests have no document: of an element only this much is asked.
class Field {}
Object.assign(globalThis, { HTMLInputElement: Field, HTMLTextAreaElement: Field, HTMLSelectElement: Field })
const element = (repeat = false) => ({ hasAttribute: (name: string) => repeat && name === 'data-repeat' })
const acted = (more: Partial<Acted> = {}): Acted => ({
  element: element() as unknown as HTMLElement,
  name: 'close',
  data: { issue: 'HAR-3' },
  handedIn: [],
  ...more,
})

describe('a second click while the first is being done', () => {
  it('is ignored', () => {
    expect(isRepeated(acted(), [acted()])).toBe(true)
    expect(isRepeated(acted(), [])).toBe(false)
  })
  it('counts where it says something else', () => {
    expect(isRepeated(acted({ data: { issue: 'HAR-4' } }), [acted()])).toBe(false)
    expect(isRepeated(acted({ name: 'open' }), [acted()])).toBe(false)
  })
  it('counts where the element says that it repeats, and for a field that is changed back and forth', () => {
    expect(isRepeated(acted({ element: element(true) as unknown as HTMLElement }), [acted()])).toBe(false)
    expect(isRepeated(acted({ element: new Field() as unknown as HTMLElement }), [acted()])).toBe(false)
  })
})
