/**
 * A screen's answer without its tags for the server: `<title>`, `<task_summary>` and `<files_summary>`. Pure, and
 * total: it parses any text, also an incomplete one.
 */
import type { ScreenFile } from './api.gen.ts'

export interface ReadAnswer {
  /** Markdown to show: the prose and the summary, without tags and the list of files. */
  text: string
  /** True if it has a summary, which means that the work is done. */
  concludes: boolean
  /** null if there is none yet. */
  title: string | null
  files: ScreenFile[]
}

type Place = 'prose' | 'title' | 'task_summary' | 'files_summary'

interface Mark {
  at: number
  end: number
  closes: boolean
  name: Exclude<Place, 'prose'>
}

const MARK = /<(\/?)(title|task_summary|files_summary)\s*>/gi
const NAMES = ['title', 'task_summary', 'files_summary'] as const
const FENCE = /^ {0,3}(```+|~~~+)/

/** Parses an answer's text. `growing`: more text may follow, so an incomplete tag at the end is held back. */
export function readAnswer(text: string, growing = false): ReadAnswer {
  const whole = growing ? text.slice(0, endOfWhole(text)) : text
  const pieces: Record<Place, string[]> = { prose: [], title: [], task_summary: [], files_summary: [] }
  let place: Place = 'prose'
  let from = 0
  for (const mark of marksIn(whole)) {
    if (mark.name === 'title' && (mark.closes ? place !== 'title' : !beginsLine(whole, mark.at))) continue
    put(pieces, place, whole.slice(from, mark.at))
    place = mark.closes ? 'prose' : mark.name
    from = mark.end
  }
  put(pieces, place, whole.slice(from))
  const title = pieces.title.join(' ').replace(/\s+/g, ' ').trim()
  return {
    text: joined(pieces.prose),
    concludes: pieces.task_summary.length > 0,
    title: title === '' ? null : title,
    files: filesOf(pieces.files_summary.join('\n')),
  }
}

const SUPERSEDED: ReadAnswer = { text: '', concludes: true, title: null, files: [] }

/**
 * Parses the texts of one answer, in order. An agent that receives a problem report writes another conclusion: all
 * conclusions except the last one are read as empty. `growing`: more of the last text may follow.
 */
export function readAnswers(texts: readonly string[], growing = false): ReadAnswer[] {
  const all = texts.map((text, at) => readAnswer(text, growing && at === texts.length - 1))
  const end = all.findLastIndex(({ concludes }) => concludes)
  return all.map((one, at) => (one.concludes && at !== end ? SUPERSEDED : one))
}

/** Reads the summary in place. A title without a closing tag is one line; the text after it is prose. */
function put(pieces: Record<Place, string[]>, place: Place, text: string): void {
  if (place !== 'title') {
    pieces[place === 'files_summary' ? place : 'prose'].push(text)
    if (place === 'task_summary') pieces.task_summary.push(text)
    return
  }
  const [, line = '', rest = ''] = /^(\s*[^\n]*)([^]*)$/.exec(text) ?? []
  pieces.title.push(line)
  pieces.prose.push(rest)
}

const joined = (pieces: string[]): string =>
  pieces
    .filter((piece) => piece.trim() !== '')
    .map((piece) => piece.replace(/^\s*\n/, '').trimEnd())
    .join('\n\n')

/** An answer may mention HTML's `<title>`: it is a tag only at the start of a line, as for the server. */
const beginsLine = (text: string, at: number): boolean => /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - 80), at))

/** The tags in order. In a code block a `<title>` is code, and so is any tag in backticks. */
function marksIn(text: string): Mark[] {
  const fenced = fencesIn(text)
  return [...text.matchAll(MARK)].flatMap((found) => {
    const name = (found[2] ?? '').toLowerCase() as Mark['name']
    const [at, end] = [found.index, found.index + found[0].length]
    const quoted = text[at - 1] === '`' && text[end] === '`'
    const code = name === 'title' && fenced.some(([start, stop]) => at >= start && at < stop)
    return quoted || code ? [] : [{ at, end, closes: found[1] === '/', name }]
  })
}

/** Start and end of each code block; one without an end reaches to the end of the text. */
function fencesIn(text: string): [start: number, stop: number][] {
  const found: [number, number][] = []
  let open: { at: number; fence: string } | null = null
  let at = 0
  for (const line of text.split('\n')) {
    const fence = FENCE.exec(line)?.[1]
    if (open === null && fence !== undefined) open = { at, fence }
    else if (open !== null && fence !== undefined && fence.startsWith(open.fence)) {
      found.push([open.at, at + line.length])
      open = null
    }
    at += line.length + 1
  }
  return open === null ? found : [...found, [open.at, text.length]]
}

/** The end of the complete part of a growing text: before a `<…` at its end that may become a tag. */
function endOfWhole(text: string): number {
  const at = text.lastIndexOf('<')
  if (at === -1) return text.length
  const begun = text.slice(at).toLowerCase()
  const quotedMark = begun.endsWith('>') && text[at - 1] === '`'
  if (quotedMark) return NAMES.some((name) => begun === `<${name}>` || begun === `</${name}>`) ? at : text.length
  return NAMES.some((name) => couldBecome(begun, `<${name}`) || couldBecome(begun, `</${name}`)) ? at : text.length
}

const couldBecome = (begun: string, mark: string): boolean =>
  mark.startsWith(begun) || (begun.startsWith(mark) && begun.slice(mark.length).trim() === '')

const LINE = /^(?:[-*+•]|\d+[.)])?\s*(?:\*\*)?`?([^\s`*:]+)`?(?:\*\*)?\s*(?:\([^)]*\)\s*)?(?::|[-–—]+(?=\s))?\s*(.*)$/

/** The files of a summary, one a line: `- path: description`. Other lines are skipped. */
export function filesOf(summary: string): ScreenFile[] {
  return summary.split('\n').flatMap((line) => {
    const [, path = '', description = ''] = LINE.exec(line.trim()) ?? []
    return isPath(path) ? [{ path: path.replace(/^\.\//, ''), description: description.trim() }] : []
  })
}

const isPath = (word: string): boolean => /[./]/.test(word) && /\w/.test(word) && !/^https?$/.test(word)
