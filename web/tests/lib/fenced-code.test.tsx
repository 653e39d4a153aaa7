import { renderToStaticMarkup } from 'react-dom/server'
import ReactMarkdown from 'react-markdown'
import { expect, test } from 'vitest'
import { fencedCode } from '@/lib/fenced-code'

/** The code that Markdown finds, where a block is one fence and nothing else. */
function read(block: string): string | null {
  const html = renderToStaticMarkup(<ReactMarkdown>{block}</ReactMarkdown>)
  const found = /^<pre><code(?: class="language-([^"]*)")?>([^<]*)<\/code><\/pre>$/.exec(html)
  if (found === null) return null
  const plain = (found[2] ?? '').replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&#x27;', "'")
  return `${found[1] ?? 'text'}: ${plain.replaceAll('&gt;', '>').replaceAll('&amp;', '&').trimEnd()}`
}

const BLOCKS = [
  '```ts\nconst a = 1',
  '```ts\nconst a = 1\n',
  '```ts\nconst a = 1\n```',
  '```ts\nconst a = 1\n```\n\n',
  '```ts\nconst a = 1\n``',
  '```ts\nconst a = 1\n   ````  ',
  '```\n\n\nx\n\ny & <b> "c"\n```',
  '```ts\n```',
  '````md\n```ts\nx\n```\n````',
  '~~~\n```\n~~~',
  '~~~c++\nx\n~~~\n',
]

test.each(BLOCKS)('a block that is one fence gives the code that Markdown finds: %j', (block) => {
  const found = fencedCode(block)
  expect(`${found?.language ?? ''}: ${found?.text.trimEnd() ?? ''}`).toBe(read(block))
})

test.each([
  '',
  'Words',
  '```ts',
  '```ts\nx\n```\nWords',
  'Words\n```ts\nx',
  '    ```ts\nx',
  '```ts title="a"\nx',
  '```a`b\nx',
])('any other block is left to Markdown: %j', (block) => expect(fencedCode(block)).toBeNull())
