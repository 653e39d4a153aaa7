import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { fieldsOf, isStructured, StructuredText } from '@/features/threads/structured-text'

describe('an answer that is JSON', () => {
  test('is shown as names and values that people read', () => {
    const text = '{"urgent": true, "dueDate": null, "order_ids": ["A-1", "A-2"], "cents": 1250}'
    expect(fieldsOf(text)).toEqual([
      ['Urgent', 'yes'],
      ['Due date', '–'],
      ['Order ids', 'A-1, A-2'],
      ['Cents', '1250'],
    ])
    expect(renderToStaticMarkup(<StructuredText text={text} />)).toContain('<dt class="text-muted">Due date</dt>')
  })

  test('has no names and values of its own if they lie in each other', () => {
    const text = '{"verdicts": [{"urgent": false}]}'
    expect(fieldsOf(text)).toBeNull()
    expect(isStructured(text)).toBe(true)
  })

  test.each(['', '{}', '{"urgent": tr', 'Here it is: {"urgent": true}', '[1, 2]', '"text"', '{curly} words'])(
    'is not taken for what only looks like it: %s',
    (text) => {
      expect(fieldsOf(text)).toBeNull()
      expect(isStructured(text)).toBe(false)
    },
  )
})
