import { expect, test } from 'vitest'
import { renderToStaticMarkup } from 'react-dom/server'
import type { QuestionItem } from '@outlast/sdk'
import { Item } from '../../../src/features/threads/question-card'

const plain: QuestionItem = {
  id: 'one',
  question: 'Which seats?',
  options: ['window', 'aisle'],
  multiple: false,
  placeholder: '',
  optional: false,
  closed: false,
  url: '',
}

const html = (more: Partial<QuestionItem>) =>
  renderToStaticMarkup(<Item item={{ ...plain, ...more }} disabled={false} value={undefined} onChange={() => {}} />)

test('only an open question has a field for an own answer', () => {
  expect(html({})).toContain('Or write your own answer')
  expect(html({ closed: true })).not.toContain('<input')
  expect(html({ closed: true })).toContain('aisle')
})

test('a page that is to be opened is a link with its whole address, which learns nothing of this one', () => {
  const shown = html({ closed: true, url: 'https://pay.example.com/7' })
  expect(shown).toContain('href="https://pay.example.com/7"')
  expect(shown).toContain('rel="noopener noreferrer"')
  expect(shown).toContain('>https://pay.example.com/7<')
  expect(html({})).not.toContain('<a ')
  expect(html({ url: 'javascript:alert(1)' })).not.toContain('<a ')
})
