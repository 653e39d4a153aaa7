import { renderToStaticMarkup } from 'react-dom/server'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { describe, expect, test } from 'vitest'
import { BlockReader } from '@/lib/markdown-blocks'

const drawn = (text: string): string =>
  renderToStaticMarkup(<ReactMarkdown remarkPlugins={[remarkGfm]}>{text}</ReactMarkdown>)

/** Line ends between two elements show nothing, and stand only where both are drawn at once. */
const blocksDrawn = (blocks: string[]): string =>
  blocks
    .map(drawn)
    .filter((html) => html !== '')
    .join('\n')

const expectSame = (text: string): void => {
  const blocks = new BlockReader().read(text)
  expect(blocksDrawn(blocks), JSON.stringify(text)).toBe(drawn(text))
}

/** Pieces that begin, continue, end or hide each other; a generated text is a row of them. */
const PIECES = [
  'Words and *more* words.',
  'a line\nand its next',
  '# Heading',
  'Title\n=====',
  'Title\n---',
  '---',
  '***',
  '* * *',
  '```',
  '```ts\nconst a = 1\n\nconst b = [x]\n```',
  '```` md\n```\nx\n\n# y\n```\n````',
  '~~~\ncode\n\ncode',
  '~~~',
  '   ```',
  '  ```',
  '    ```',
  '\t```',
  '- one',
  '- one\n- two',
  '-',
  '- ',
  '  inside',
  '   inside',
  '    deep',
  '      deeper',
  '- a\n\n  b',
  '- a\n  ```\n  [x]: /hidden\n  ```',
  '- ```\n  x\n\n  y',
  '  - nested',
  '   - three',
  '1. one',
  '2. two',
  '10. ten\n    in it',
  '1) other',
  '+ plus',
  '-\ttab',
  '-     code in item',
  '- [ ] to do\n- [x] done',
  '> quoted',
  '> quoted\nlazy',
  '> ```\n> code',
  '> - item',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '| 3 | 4 |',
  '<div>',
  '</div>',
  '<div>\n```\n</div>',
  '<!-- open',
  '-->',
  '<!-- all -->',
  '<script>\n\nx',
  '</script>',
  '<pre>',
  '<?php',
  '<b>bold</b> text',
  '  <!-- two',
  '[x]',
  'see [x] and [Y  z][]',
  'over [y\nz] lines',
  '[x]: https://x.example',
  '[x]: https://other.example "Titled"',
  '[y z]: https://yz.example',
  '[x]: https://x.example\n[y z]: https://yz.example',
  '[x]:\nhttps://late.example',
  '[x]: https://x.example\n"late title"',
  '[x]: https://x.example\ntext at once',
  '> [x]: https://quoted.example',
  '- [x]: https://listed.example',
  'note[^1]',
  '[^1]: The note.',
  '[key: string]: number',
  'https://auto.example and a@b.example',
  '\\[x\\]: no',
  '&nbsp;x',
  '\u00a0x',
  '`code',
  '**bold',
  'hard  \nbreak',
  'carriage\r\nreturn',
]

/** The same numbers every time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

function textOf(seed: number): string {
  const random = randomOf(seed)
  const pick = <T,>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const count = 2 + Math.floor(random() * 9)
  return Array.from({ length: count }, () => pick(PIECES) + pick(['\n', '\n\n', '\n\n', '\n\n\n', '\n \n'])).join('')
}

describe('blocks show what the whole text shows', () => {
  test.each(PIECES)('in front of words, behind them, and between: %j', (piece) => {
    for (const text of [piece, `${piece}\n\nEnd`, `Begin\n\n${piece}\n\nEnd [x]`, `- a\n\n${piece}\n\nEnd`])
      expectSame(text)
  })

  test('in every pair of pieces', () => {
    for (const one of PIECES) for (const two of PIECES) expectSame(`${one}\n\n${two}\n\nThe end of [x]\n\n# Last\n`)
  }, 120_000)

  test('in texts of any pieces', () => {
    const count = Number(process.env['MARKDOWN_TEXTS'] ?? 600)
    for (let seed = 1; seed <= count; seed++) expectSame(textOf(seed))
  }, 1_200_000)

  test('at every moment while the text grows, and in any pieces that arrive', () => {
    for (let seed = 1; seed <= 25; seed++) {
      const text = textOf(seed)
      const random = randomOf(seed)
      const reader = new BlockReader()
      for (let end = 0; end <= text.length; end += 1 + Math.floor(random() * 12)) {
        const sofar = text.slice(0, end)
        expect(blocksDrawn(reader.read(sofar)), JSON.stringify(sofar)).toBe(drawn(sofar))
      }
    }
  }, 120_000)
})

const LONG = Array.from(
  { length: 400 },
  (_, n) => `## Part ${n}\n\nSome words with \`code\`.\n\n- one\n- two\n\n\`\`\`ts\nconst n = ${n}\n\nf(n)\n\`\`\`\n\n`,
).join('')

test('only the last block of a long answer grows', () => {
  const reader = new BlockReader()
  const before = reader.read(LONG)
  const later = reader.read(`${LONG}And a last`)
  expect(before.length).toBeGreaterThan(1000)
  expect(Math.max(...later.map((block) => block.length))).toBeLessThan(80)
  expect(later.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
})

test('a link definition at the end changes only the blocks that use it', () => {
  const reader = new BlockReader()
  const text = `First [here].\n\n${LONG}End.\n\n`
  const before = reader.read(text)
  const later = reader.read(`${text}[here]: https://a.example\n`)
  const changed = before.filter((block, at) => block !== later[at])
  expect(changed).toEqual(['First [here].\n\n'])
})

test('another text is read from its beginning', () => {
  const reader = new BlockReader()
  reader.read('One\n\nTwo\n\n')
  expect(reader.read('Three\n\nFour')).toEqual(['Three\n\n', 'Four'])
  expect(reader.read('')).toEqual([])
})
