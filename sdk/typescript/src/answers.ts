/**
 * What a screen's answer says, apart from the marks that it carries for the server: `<title>`, `<task_summary>` and
 * `<files_summary>`. Pure, and total: any text can be read, also one that is only half there.
 */
import type { ScreenFile } from './api.gen.ts'

export interface ReadAnswer {
  /** Markdown to show: the prose and the summary, never a mark nor the list of files. */
  text: string
  /** Whether it holds a summary: it says that the work is done. */
  concludes: boolean
  /** null while there is none. */
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

/** Takes an answer's text apart. `growing`: more of it may come, so a mark that has only begun is held back. */
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
 * The texts of one answer, in their order. An agent that is told of problems concludes again: all but its last
 * conclusion read as empty. `growing`: more of the last text may come.
 */
export function readAnswers(texts: readonly string[], growing = false): ReadAnswer[] {
  const all = texts.map((text, at) => readAnswer(text, growing && at === texts.length - 1))
  const end = all.findLastIndex(({ concludes }) => concludes)
  return all.map((one, at) => (one.concludes && at !== end ? SUPERSEDED : one))
}

/** The summary is read where it stands. A title that is never closed is one line; what follows it is prose. */
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

/** An answer may speak of HTML's own `<title>`: only at the beginning of a line it is a mark, as for the server. */
const beginsLine = (text: string, at: number): boolean => /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - 80), at))

/** The marks in their order. In a block of code a `<title>` is code, and so is any mark within backticks. */
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

/** Where blocks of code begin and end; one that is not closed goes on to the end of the text. */
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

/** Up to where a growing text can be read: before a `<…` at its end that may become a mark. */
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

/** The files that a summary names, one a line: `- path: what it is`. Lines that name none are left out. */
export function filesOf(summary: string): ScreenFile[] {
  return summary.split('\n').flatMap((line) => {
    const [, path = '', description = ''] = LINE.exec(line.trim()) ?? []
    return isPath(path) ? [{ path: path.replace(/^\.\//, ''), description: description.trim() }] : []
  })
}

const isPath = (word: string): boolean => /[./]/.test(word) && /\w/.test(word) && !/^https?$/.test(word)
