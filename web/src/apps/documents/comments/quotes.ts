/** Quotes of selected text in a block: how they are sent to the server, and found again in the text. Pure. */
import type { Quote } from '@outlast/sdk'

/** The number of characters kept on each side of a quote, so that the same words elsewhere are not mistaken for it. */
const AROUND = 32
/** Longer selections are quoted by their beginning. */
const MAX_QUOTE = 1_000

/** Text without white space (which differs between rendered and source text), and the original position of each
 * character. */
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

/** The quote of a block's text from `start` to `end` (in characters); null if it contains no word. */
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

/** The range of a quote in a block's text: `[start, end]` in characters, or null if the text no longer contains it. Of
 * several matches, the one whose surroundings are most alike. */
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

/** Text without Markdown syntax. */
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
