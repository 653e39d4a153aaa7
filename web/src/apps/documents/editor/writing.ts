/** Effects of keys and buttons on the Markdown of one block. Plain functions of a text and its selection. */
import { bareText, BULLET, isOneBlock, NUMBER, QUOTE, shaped, shapeOf, type Shape } from './block-types'

export interface Written {
  text: string
  /** Start and end of the selection (equal: the position of the caret). */
  start: number
  end: number
}

export type Mark = 'bold' | 'italic' | 'code' | 'strike' | 'link'

export type Enter =
  /** Editing continues in the same block. */
  | ({ kind: 'write' } & Written)
  /** The block ends here: `before` stays, `after` begins the next one. */
  | { kind: 'split'; before: string; after: string }

/** The effect of Enter at a position in a block. */
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

/** Tab in a list: one step in or out. Null if there is nothing to move. */
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

/** The same words as another type; choosing the current type removes it. */
export function reshape({ text, end }: Written, shape: Shape): Written {
  const words = bareText(text)
  const same = shapeOf(text) === shape
  const result = same && shape !== 'rule' ? words : shaped(words, shape)
  if (shape === 'code' && !same) return { text: result, start: 3, end: 3 }
  if (shape === 'table' && words.trim() === '') return { text: result, start: 2, end: 8 }
  const fromEnd = Math.min(text.length - end, result.length)
  const at = result.length - fromEnd
  return { text: result, start: at, end: at }
}

const SIGNS: Record<Exclude<Mark, 'link'>, string> = { bold: '**', italic: '_', code: '`', strike: '~~' }

/** With Ctrl or ⌘. */
export const MARK_KEYS: Partial<Record<Mark, string>> = { bold: 'b', italic: 'i', code: 'e', link: 'k' }

/** The mark that a key toggles, or undefined. */
export const markOf = (key: string): Mark | undefined =>
  (Object.keys(MARK_KEYS) as Mark[]).find((mark) => MARK_KEYS[mark] === key.toLowerCase())

/** Turns bold, italic … on or off for the selection. */
export function marked({ text, start, end }: Written, mark: Mark): Written {
  const chosen = text.slice(start, end)
  if (mark === 'link') {
    const isUrl = /^https?:\/\/\S+$/.test(chosen)
    const result = isUrl ? `[](${chosen})` : `[${chosen}](https://)`
    const at = isUrl ? start + 1 : start + chosen.length + 3
    return { text: text.slice(0, start) + result + text.slice(end), start: at, end: isUrl ? at : at + 8 }
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

/** The position of the caret in the Markdown, for a position in the rendered words. */
export function sourcePlace(markdown: string, shown: string, place: number): number {
  let at = 0
  for (let seen = 0; seen < Math.min(place, shown.length); seen += 1) {
    const letter = shown[seen] ?? ''
    if (/\s/.test(letter)) {
      // Line breaks and spaces of the page can differ from those of the source.
      if (/\s/.test(markdown[at] ?? '')) at += 1
      continue
    }
    const position = markdown.indexOf(letter, at)
    if (position === -1 || position - at > 400) return markdown.length
    at = position + 1
  }
  return at
}
