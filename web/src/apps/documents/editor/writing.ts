/**
 * What keys and buttons do to the Markdown of one block. Plain functions of a text and the places that are selected in it.
 */

export interface Written {
  text: string
  /** Selected from, to (the same: where the caret stands). */
  start: number
  end: number
}

export type Shape = 'text' | 'h1' | 'h2' | 'h3' | 'bullets' | 'numbers' | 'tasks' | 'quote' | 'code' | 'table' | 'rule'
export type Mark = 'bold' | 'italic' | 'code' | 'strike' | 'link'

const FENCE = /^ {0,3}(`{3,}|~{3,})/
const BULLET = /^(\s*)([-*+])( \[[ xX]\])?( +|$)/
const NUMBER = /^(\s*)(\d{1,9})([.)])( +|$)/
const QUOTE = /^ {0,3}> ?/
const HEADING = /^ {0,3}(#{1,6})( +|$)/

/** What a block's text is, as far as keys are concerned. */
export function shapeOf(text: string): Shape {
  const [line = ''] = text.split('\n', 1)
  if (FENCE.test(line)) return 'code'
  const heading = HEADING.exec(line)
  if (heading !== null) return heading[1] === '#' ? 'h1' : heading[1] === '##' ? 'h2' : 'h3'
  const bullet = BULLET.exec(line)
  if (bullet !== null) return bullet[3] === undefined ? 'bullets' : 'tasks'
  if (NUMBER.test(line)) return 'numbers'
  if (QUOTE.test(line)) return 'quote'
  if (/^\s*\|/.test(line) || /^\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$/.test(text.split('\n')[1] ?? '')) return 'table'
  return 'text'
}

/** Whether the server will keep this text as the one block that it is. When in doubt: no. */
export function isOneBlock(text: string): boolean {
  const lines = text.trim().split('\n')
  const fence = FENCE.exec(lines[0] ?? '')?.[1]
  if (fence !== undefined) {
    const closing = lines.findIndex(
      (line, at) => at > 0 && line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim()),
    )
    return closing === lines.length - 1 && closing > 0
  }
  const [first = '', ...others] = lines
  if (HEADING.test(first) || /^\s*([-*_])( *\1){2,}\s*$/.test(first)) return lines.length === 1 && !HEADING.test(first)
  if (
    others.some(
      (line) => line.trim() === '' || HEADING.test(line) || FENCE.test(line) || /^(=+|-+)\s*$/.test(line.trim()),
    )
  )
    return false
  const starts = (line: string) =>
    BULLET.test(line) ? 'list' : NUMBER.test(line) ? 'number' : QUOTE.test(line) ? 'quote' : ''
  const kind = starts(first)
  return others.every((line) => starts(line) === '' || starts(line) === kind || /^\s{2,}/.test(line))
}

export type Enter =
  /** Goes on in the same block. */
  | ({ kind: 'write' } & Written)
  /** The block ends here: `before` stays, `after` begins the next one. */
  | { kind: 'split'; before: string; after: string }

/** What Enter does at a place of a block. */
export function enter({ text, start, end }: Written): Enter {
  const shape = shapeOf(text)
  const write = (insert: string): Enter => {
    const at = start + insert.length
    return { kind: 'write', text: text.slice(0, start) + insert + text.slice(end), start: at, end: at }
  }
  if (shape === 'code') {
    const closed = isOneBlock(text) && start >= text.trimEnd().length
    return closed ? { kind: 'split', before: text.trimEnd(), after: '' } : write('\n')
  }
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const line = text.slice(lineStart, start)
  const rest = text.slice(end)
  const atEnd = rest.trim() === ''
  if (shape === 'table') return atEnd && line.trim() === '' ? split(text.slice(0, lineStart), rest) : write('\n')
  const item = BULLET.exec(line) ?? NUMBER.exec(line)
  if (item !== null) {
    const bare = line.slice(item[0].length).trim() === ''
    if (bare && atEnd) return split(text.slice(0, lineStart), '')
    return write(`\n${nextItem(item)}`)
  }
  if (shape === 'quote') {
    const bare = line.replace(QUOTE, '').trim() === ''
    return bare && atEnd ? split(text.slice(0, lineStart), '') : write('\n> ')
  }
  return split(text.slice(0, start), rest)
}

const split = (before: string, after: string): Enter => ({
  kind: 'split',
  before: before.replace(/\s+$/, ''),
  after: after.replace(/^\s+/, ''),
})

function nextItem(item: RegExpExecArray): string {
  const [, indent = '', sign = '', third] = item
  return /\d/.test(sign)
    ? `${indent}${Number(sign) + 1}${third ?? '.'} `
    : `${indent}${sign}${third === undefined ? '' : ' [ ]'} `
}

/** Tab in a list: one step in, or out. Null where there is nothing to move. */
export function indent({ text, start, end }: Written, out: boolean): Written | null {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lines = text.slice(from, end).split('\n')
  if (!lines.some((line) => BULLET.test(line) || NUMBER.test(line))) return null
  const moved = lines.map((line) => (out ? line.replace(/^ {1,2}/, '') : `  ${line}`))
  const shift = (moved[0]?.length ?? 0) - (lines[0]?.length ?? 0)
  const all = moved.join('\n')
  const grown = all.length - (end - from)
  return {
    text: text.slice(0, from) + all + text.slice(end),
    start: Math.max(from, start + shift),
    end: Math.max(from, end + grown),
  }
}

const bareLine = (line: string): string =>
  line.replace(HEADING, '').replace(BULLET, '').replace(NUMBER, '').replace(QUOTE, '')

/** The words of a block without what makes it a list, heading, quote or code. */
function bareText(text: string): string {
  if (shapeOf(text) === 'code')
    return text
      .split('\n')
      .filter((line) => !FENCE.test(line))
      .join('\n')
  return text.split('\n').map(bareLine).join('\n')
}

const TABLE = '| Column | Column |\n| --- | --- |\n|  |  |'

/** The same words in another shape; the shape that it has already is taken off. */
export function reshape({ text, end }: Written, shape: Shape): Written {
  const words = bareText(text)
  const same = shapeOf(text) === shape
  const made = same && shape !== 'rule' ? words : shaped(words, shape)
  if (shape === 'code' && !same) return { text: made, start: 3, end: 3 }
  if (shape === 'table' && words.trim() === '') return { text: made, start: 2, end: 8 }
  const fromEnd = Math.min(text.length - end, made.length)
  const at = made.length - fromEnd
  return { text: made, start: at, end: at }
}

function shaped(words: string, shape: Shape): string {
  const lines = words.split('\n')
  switch (shape) {
    case 'h1':
    case 'h2':
    case 'h3':
      return `${'#'.repeat(Number(shape[1]))} ${lines.join(' ')}`
    case 'bullets':
      return lines.map((line) => `- ${line}`).join('\n')
    case 'numbers':
      return lines.map((line, at) => `${at + 1}. ${line}`).join('\n')
    case 'tasks':
      return lines.map((line) => `- [ ] ${line}`).join('\n')
    case 'quote':
      return lines.map((line) => `> ${line}`).join('\n')
    case 'code':
      return `\`\`\`\n${words}\n\`\`\``
    case 'table':
      return words.trim() === '' ? TABLE : `| ${lines.join(' ')} | Column |\n| --- | --- |\n|  |  |`
    case 'rule':
      return words.trim() === '' ? '---' : `${words}\n\n---`
    case 'text':
      return words
  }
}

const SIGNS: Record<Exclude<Mark, 'link'>, string> = { bold: '**', italic: '_', code: '`', strike: '~~' }

/** Bold, italic … on or off for what is selected. */
export function marked({ text, start, end }: Written, mark: Mark): Written {
  const chosen = text.slice(start, end)
  if (mark === 'link') {
    const isUrl = /^https?:\/\/\S+$/.test(chosen)
    const made = isUrl ? `[](${chosen})` : `[${chosen}](https://)`
    const at = isUrl ? start + 1 : start + chosen.length + 3
    return { text: text.slice(0, start) + made + text.slice(end), start: at, end: isUrl ? at : at + 8 }
  }
  const sign = SIGNS[mark]
  const outside = text.slice(start - sign.length, start) === sign && text.slice(end, end + sign.length) === sign
  if (outside)
    return {
      text: text.slice(0, start - sign.length) + chosen + text.slice(end + sign.length),
      start: start - sign.length,
      end: end - sign.length,
    }
  if (chosen.length >= 2 * sign.length && chosen.startsWith(sign) && chosen.endsWith(sign)) {
    const inner = chosen.slice(sign.length, -sign.length)
    return { text: text.slice(0, start) + inner + text.slice(end), start, end: start + inner.length }
  }
  return {
    text: text.slice(0, start) + sign + chosen + sign + text.slice(end),
    start: start + sign.length,
    end: end + sign.length,
  }
}

/** Where in the Markdown the caret belongs, for a place counted in the words that are shown. */
export function sourcePlace(markdown: string, shown: string, place: number): number {
  let at = 0
  for (let seen = 0; seen < Math.min(place, shown.length); seen += 1) {
    const letter = shown[seen] ?? ''
    if (/\s/.test(letter)) {
      // Line breaks and spaces of the page are not always those of the source.
      if (/\s/.test(markdown[at] ?? '')) at += 1
      continue
    }
    const found = markdown.indexOf(letter, at)
    if (found === -1 || found - at > 400) return markdown.length
    at = found + 1
  }
  return at
}
