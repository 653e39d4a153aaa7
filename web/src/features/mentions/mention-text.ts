/** `@` mentions in a text that is being written. Pure. */

export interface Mentionable {
  /** A user's id, or `agent`. */
  id: string
  name: string
}

export const AGENT: Mentionable = { id: 'agent', name: 'agent' }

/** The text between an `@` and the caret, with its position; null if no mention is being typed. */
export function mentionAt(text: string, caret: number): { from: number; typed: string } | null {
  const line = text.slice(text.lastIndexOf('\n', caret - 1) + 1, caret)
  const sign = line.lastIndexOf('@')
  if (sign === -1) return null
  const before = line[sign - 1]
  if (before !== undefined && !/[\s([{,;:—–-]/.test(before)) return null // an e-mail address
  const typed = line.slice(sign + 1)
  if (typed.length > 60 || /^\s|\s{2}/.test(typed)) return null
  return { from: caret - typed.length - 1, typed }
}

/** People who match the typed text, best first: names that begin with it, then names with a word that does. */
export function suggestions(people: readonly Mentionable[], typed: string): Mentionable[] {
  const wanted = typed.toLowerCase()
  const rank = ({ name }: Mentionable) => {
    const whole = name.toLowerCase()
    if (whole.startsWith(wanted)) return 0
    return whole.split(/\s+/).some((word) => word.startsWith(wanted)) ? 1 : 2
  }
  return people.filter((one) => rank(one) < 2).toSorted((one, other) => rank(one) - rank(other))
}

/** The text with the name completed, and the new position of the caret. */
export function insertMention(
  text: string,
  from: number,
  caret: number,
  name: string,
): { text: string; caret: number } {
  const after = text.slice(caret)
  const written = `@${name}${after.startsWith(' ') ? '' : ' '}`
  return { text: text.slice(0, from) + written + after, caret: from + written.length + (after.startsWith(' ') ? 1 : 0) }
}

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The text in pieces, where mentions carry their person. Longer names win over shorter ones. */
export function mentionPieces(text: string, people: readonly Mentionable[]): { text: string; who: string | null }[] {
  const names = people.toSorted((one, other) => other.name.length - one.name.length)
  if (names.length === 0 || !text.includes('@')) return [{ text, who: null }]
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_])@(${names.map(({ name }) => escapePattern(name)).join('|')})(?![\\p{L}\\p{N}_])`,
    'giu',
  )
  const pieces: { text: string; who: string | null }[] = []
  let done = 0
  for (const match of text.matchAll(pattern)) {
    if (match.index > done) pieces.push({ text: text.slice(done, match.index), who: null })
    const who = names.find(({ name }) => name.toLowerCase() === (match[1] ?? '').toLowerCase())
    pieces.push({ text: match[0], who: who?.id ?? null })
    done = match.index + match[0].length
  }
  if (done < text.length) pieces.push({ text: text.slice(done), who: null })
  return pieces
}

/** The ids of the people that a text mentions. */
export const mentionedIn = (text: string, people: readonly Mentionable[]): string[] => [
  ...new Set(mentionPieces(text, people).flatMap(({ who }) => (who === null ? [] : [who]))),
]
