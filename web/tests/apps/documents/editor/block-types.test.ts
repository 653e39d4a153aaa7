import { describe, expect, it } from 'vitest'
import { isOneBlock, shapeOf } from '@/apps/documents/editor/block-types'

describe('what a block is', () => {
  it.each([
    ['Some words', 'text'],
    ['## Why', 'h2'],
    ['- one', 'bullets'],
    ['- [ ] do', 'tasks'],
    ['2. two', 'numbers'],
    ['> said', 'quote'],
    ['```sql\nselect 1\n```', 'code'],
    ['| a | b |\n| --- | --- |', 'table'],
  ])('%j is %s', (text, shape) => expect(shapeOf(text)).toBe(shape))

  it.each([
    ['one line\nand a second', true],
    ['- one\n- two\n  more', true],
    ['```\n\n# no heading\n\n```', true],
    ['> a\n> b', true],
    ['one\n\ntwo', false],
    ['one\n# two', false],
    ['one\n- two', false],
    ['```\nnot closed', false],
    ['# heading', false],
    ['words\n===', false],
  ])('%j stays one block: %s', (text, one) => expect(isOneBlock(text)).toBe(one))
})
