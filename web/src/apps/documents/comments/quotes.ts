/** Selected text in a block: how it is told to the server, and where it is found again. Pure. */
import type { Quote } from '@outlast/sdk'

/** How much of what stands around a quote is kept, so that the same words elsewhere are not taken for it. */
const AROUND = 32
/** A longer selection is told by its beginning. */
const MAX_QUOTE = 1_000

/** Text without white space (the same words are drawn with other spaces in another place), and where each of its
 * characters was. */
function squeeze(text: string): { text: string; at: number[] } {
  let out = ''
  const at: number[] = []
  for (let index = 0; index < text.length; index += 1) {
    if (/\s/.test(text[index] ?? '')) continue
    out += text[index]
    at.push(index)
  }
  return { text: out, at }
}

const bare = (text: string): string => text.replace(/\s+/g, '')
const squeezed = (text: string): string => text.replace(/\s+/g, ' ')

/** The quote of a part of a block's text, in characters from `start` to `end`; null where it holds no word. */
export function quoteOf(text: string, start: number, end: number): Quote | null {
  const whole = text.slice(start, end)
  const chosen = squeezed(whole).trim().slice(0, MAX_QUOTE)
  if (chosen === '') return null
  const from = start + (whole.length - whole.trimStart().length)
  const to = Math.min(end - (whole.length - whole.trimEnd().length), text.length)
  const before = squeezed(text.slice(0, from)).trimStart()
  const after = squeezed(text.slice(to)).trimEnd()
  return { text: chosen, prefix: before.slice(-AROUND), suffix: after.slice(0, AROUND) }
}

/** Where a block's text says what was quoted: `[start, end]` in its characters; null where it does not (any more).
 * Of several places the one with the most alike surroundings. */
export function findQuote(text: string, quote: Quote): [number, number] | null {
  const { text: within, at } = squeeze(text)
  for (const wanted of [bare(quote.text), bare(unmarked(quote.text))]) {
    const found = wanted === '' ? null : best(within, wanted, quote)
    if (found === null) continue
    const [first, last] = [at[found], at[found + wanted.length - 1]]
    if (first !== undefined && last !== undefined) return [first, last + 1]
  }
  return null
}

/** Text as it is read: without the signs of Markdown. */
const unmarked = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(\*\*|__|~~|`)/g, '')
    .replace(/(^|\s)[*_](\S)/g, '$1$2')
    .replace(/(\S)[*_](?=\s|$|[.,;:!?])/g, '$1')

function best(text: string, wanted: string, { prefix = '', suffix = '' }: Quote): number | null {
  const [before, after] = [bare(prefix), bare(suffix)]
  let [place, most] = [-1, -1]
  for (let found = text.indexOf(wanted); found !== -1; found = text.indexOf(wanted, found + 1)) {
    const alike = alikeAtEnd(text.slice(0, found), before) + alikeAtStart(text.slice(found + wanted.length), after)
    if (alike > most) [place, most] = [found, alike]
  }
  return place === -1 ? null : place
}

function alikeAtStart(one: string, other: string): number {
  let count = 0
  while (count < Math.min(one.length, other.length) && one[count] === other[count]) count += 1
  return count
}

function alikeAtEnd(one: string, other: string): number {
  let count = 0
  while (count < Math.min(one.length, other.length) && one.at(-1 - count) === other.at(-1 - count)) count += 1
  return count
}
