import { expect, test } from 'vitest'
import { shownText } from '@/apps/documents/front-matter'

test('front matter is shown as code', () => {
  expect(shownText('---\nname: fastapi\n\ntags: [a]\n---')).toBe('```yaml\n---\nname: fastapi\n\ntags: [a]\n---\n```')
  expect(shownText('---\n---')).toBe('```yaml\n---\n---\n```')
  expect(shownText('---\na: ```\n...')).toBe('````yaml\n---\na: ```\n...\n````')
})

test.each(['---', '---\n\na\n\n---', 'a\n---', '---\na: b', '# ---\n---'])(
  'other text is shown as it is: %j',
  (text) => {
    expect(shownText(text)).toBe(text)
  },
)
