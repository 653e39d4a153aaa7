/**
 * What keys and buttons do to the Markdown of one block. Plain functions of a text and the places that are selected in it.
 */
import { bareText, BULLET, isOneBlock, NUMBER, QUOTE, shaped, shapeOf, type Shape } from './block-types'

export interface Written {
  text: string
  /** Selected from, to (the same: where the caret stands). */
  start: number
  end: number
}

export type Mark = 'bold' | 'italic' | 'code' | 'strike' | 'link'

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

const SIGNS: Record<Exclude<Mark, 'link'>, string> = { bold: '**', italic: '_', code: '`', strike: '~~' }

/** With Ctrl or ⌘. */
export const MARK_KEYS: Partial<Record<Mark, string>> = { bold: 'b', italic: 'i', code: 'e', link: 'k' }

/** What a key does to what is selected; undefined: nothing. */
export const markOf = (key: string): Mark | undefined =>
  (Object.keys(MARK_KEYS) as Mark[]).find((mark) => MARK_KEYS[mark] === key.toLowerCase())

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
