import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HIDDEN_MS, PEEK_MS, restWhileHidden } from '../../../../sdk/typescript/src/react/hidden'

class Page extends EventTarget {
  hidden = false

  show(visible: boolean): void {
    this.hidden = !visible
    this.dispatchEvent(new Event('visibilitychange'))
  }
}

let page: Page

beforeEach(() => {
  page = new Page()
  vi.useFakeTimers()
  vi.stubGlobal('document', page)
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const fake = () => ({ start: vi.fn(), rest: vi.fn(), peek: vi.fn(() => Promise.resolve()) })

test('a page that is hidden for a while gives its connection back and looks now and then', () => {
  const store = fake()
  restWhileHidden(store)
  page.show(false)
  expect(store.rest).not.toHaveBeenCalled()
  vi.advanceTimersByTime(HIDDEN_MS)
  expect(store.rest).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(2 * PEEK_MS)
  expect(store.peek).toHaveBeenCalledTimes(2)
})

test('a page that is shown again follows from its cursor and looks no more', () => {
  const store = fake()
  restWhileHidden(store)
  page.show(false)
  vi.advanceTimersByTime(HIDDEN_MS)
  page.show(true)
  expect(store.start).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(3 * PEEK_MS)
  expect(store.peek).not.toHaveBeenCalled()
})

test('a glance at another tab costs nothing', () => {
  const store = fake()
  restWhileHidden(store)
  page.show(false)
  vi.advanceTimersByTime(HIDDEN_MS - 1)
  page.show(true)
  vi.advanceTimersByTime(HIDDEN_MS)
  expect(store.rest).not.toHaveBeenCalled()
})
