/** Line-by-line rules for the positions where Markdown may be split. Pure, for `BlockReader`. */

/** A link definition on a line of its own. */
export interface Definition {
  label: string
  line: string
}

interface Fence {
  mark: string
  length: number
  /** The column of its first mark. */
  column: number
}

type Where =
  | { kind: 'text' }
  | { kind: 'fence'; fence: Fence }
  /** HTML that continues over empty lines. */
  | { kind: 'html'; until: RegExp }
  /** After the possible start of HTML, up to the next empty line; `then` is the state that follows. */
  | { kind: 'tag'; then: Where }
  | List
  /** Possibly in a list, possibly after one. */
  | { kind: 'unsure' }
  /** Everything that follows belongs to the open block. */
  | { kind: 'sealed' }

/** In a list item whose content begins at `column`; `fence` is the open fence inside. */
interface List {
  kind: 'list'
  column: number
  /** The item has no content yet. */
  empty: boolean
  fence: Fence | null | 'unknown'
}

/** The state of the reader after a line. */
export interface Stand {
  where: Where
  /** The start of the open block. */
  from: number
  /** The line before was empty, or there was none. */
  blank: boolean
  /** The previous line was a definition. Only an empty line or another definition may follow it. */
  defining: boolean
  /** The text cannot be split at all. */
  whole: boolean
  /** This line begins a new block. */
  cut: boolean
  /** The definition on this line. */
  definition: Definition | null
}

const TEXT: Where = { kind: 'text' }
const UNSURE: Where = { kind: 'unsure' }
const SEALED: Where = { kind: 'sealed' }

export const START: Stand = {
  where: TEXT,
  from: 0,
  blank: true,
  defining: false,
  whole: false,
  cut: false,
  definition: null,
}

const EMPTY = /^[ \t]*$/
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const FENCE = /^([ \t]*)(`{3,}|~{3,})(.*)$/
const INNER_FENCE = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>))*[ \t]*)(`{3,}|~{3,})(.*)$/
const MARKER = /^( {0,3}(?:[-*+]|\d{1,9}[.)]))([ \t]+|$)/
const INTERRUPTS = /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/
const DEFINITION = /^\[((?:[^[\]\\]|\\.)+)\]:[ \t]*[^\s<()\\]+(?:[ \t]+"[^"\\]*")?[ \t]*$/
/** Lines that may be part of a definition, including their surroundings. */
const MAY_DEFINE = /\[\^[^\]]+\]:|\]:[ \t]*(?:$|<|\S+[ \t]*(?:$|["'(]))/
const LONGEST_LABEL = 900
const TAG = /^ {0,3}<\/?[a-z]/i
/** HTML that continues over empty lines, with its end. */
const HTML: [RegExp, RegExp][] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
]

/** The state after `raw`, a line without its line break that begins at `position`. */
export function after(before: Stand, raw: string, position: number): Stand {
  const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
  const now: Stand = { ...before, cut: false, definition: null }
  const { where } = now
  if (now.whole || line.includes('\r')) return { ...now, whole: true }
  if (where.kind === 'sealed') return { ...now, whole: MAY_DEFINE.test(line) }
  if (where.kind === 'fence') return closes(line, where.fence) ? { ...now, where: TEXT, blank: false } : now
  if (where.kind === 'html') return where.until.test(line) ? { ...now, where: TEXT, blank: false } : now
  if (EMPTY.test(line)) return { ...now, where: afterEmpty(where), blank: true, defining: false }
  if (where.kind === 'list' && columns(line) >= where.column) return insideList(now, where, line)
  return outside(now, line, position)
}

/** An item may begin with one empty line, but not with two: then its content is unknown. */
function afterEmpty(where: Where): Where {
  if (where.kind === 'tag') return where.then
  return where.kind === 'list' && where.empty ? UNSURE : where
}

/** A line inside an item does not affect the text around the list, but it may contain a definition. */
function insideList(now: Stand, list: List, line: string): Stand {
  const lost = list.fence !== null && list.fence !== 'unknown' && columns(line) < list.fence.column
  const open = lost ? 'unknown' : list.fence
  const inFence = open !== null && open !== 'unknown'
  if (!inFence && MAY_DEFINE.test(line)) return { ...now, whole: true }
  const fence = inFence ? (closes(line.trimStart(), open) ? null : open) : (open ?? innerFence(line))
  return { ...now, where: { ...list, empty: false, fence }, blank: false }
}

/** The fence that a line inside an item opens; HTML may hide the next one. */
const innerFence = (line: string): List['fence'] =>
  /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)*</.test(line) ? 'unknown' : fenceIn(INNER_FENCE, line)

function outside(now: Stand, line: string, position: number): Stand {
  const cut = now.blank && position > now.from && mayCut(now.where, line)
  const where = cut ? TEXT : now.where
  const definition = where.kind === 'text' && (now.blank || now.defining) ? definitionIn(line) : null
  const doubtful = definition === null && (now.defining || (MAY_DEFINE.test(line) && !opensFence(line)))
  return {
    where: whereAfter(where, line, now.blank),
    from: cut ? position : now.from,
    blank: false,
    defining: definition !== null,
    whole: doubtful,
    cut,
    definition,
  }
}

/** True if this line, after an empty one, certainly begins a new block. An unclosed fence in an item includes the empty
 * lines, and the meaning of an empty item depends on the text before it. */
function mayCut(where: Where, line: string): boolean {
  if (!/^[^\s\ufeff]/.test(line)) return false
  if (where.kind === 'list' && where.fence !== null) return false
  const marker = RULE.test(line) ? null : MARKER.exec(line)
  return marker === null || (where.kind === 'text' && marker[0].length < line.length)
}

function whereAfter(where: Where, line: string, blank: boolean): Where {
  const certain = where.kind === 'text' || where.kind === 'list' || (where.kind === 'unsure' && !/^ /.test(line))
  const html = HTML.find(([begin]) => begin.test(line))
  if (!certain && fenceIn(INNER_FENCE, line) !== null) return SEALED
  if (opensFence(line)) return { kind: 'fence', fence: fenceIn(FENCE, line) as Fence }
  if (html !== undefined) return certain ? htmlAfter(html[1], line) : SEALED
  if (TAG.test(line)) return { kind: 'tag', then: where.kind === 'text' ? TEXT : UNSURE }
  const marker = RULE.test(line) ? null : MARKER.exec(line)
  if (where.kind === 'tag') return marker === null ? where : { kind: 'tag', then: UNSURE }
  // After indented code and an empty line, not every item begins a list: micromark takes some for text.
  if (marker === null) return where.kind === 'text' && columns(line) < 4 ? where : UNSURE
  // In the middle of a paragraph, most lines that look like an item are part of the paragraph.
  const begins = where.kind === 'list' || (where.kind === 'text' && blank) || INTERRUPTS.test(line)
  return certain && begins ? item(marker, line) : UNSURE
}

const htmlAfter = (until: RegExp, line: string): Where =>
  until.test(line.replace(/^ {0,3}<!?/, '')) ? TEXT : { kind: 'html', until }

function item([head, mark = '']: RegExpExecArray, line: string): List {
  const empty = head.length === line.length
  const gap = width(head) - width(mark)
  const column = empty || gap > 4 ? width(mark) + 1 : width(head)
  const rest = ' '.repeat(width(head)) + line.slice(head.length)
  return { kind: 'list', column, empty, fence: empty ? null : innerFence(rest) }
}

const opensFence = (line: string): boolean => /^ {0,3}[`~]/.test(line) && fenceIn(FENCE, line) !== null

function fenceIn(pattern: RegExp, line: string): Fence | null {
  const [, before = '', run = '', info = ''] = pattern.exec(line) ?? []
  const mark = run[0] ?? ''
  if (mark === '' || (mark === '`' && info.includes('`'))) return null
  return { mark, length: run.length, column: width(before) }
}

/** True if the line closes a fence; up to three columns of indent are allowed. */
function closes(line: string, { mark, length }: Fence): boolean {
  const [, before = '', run = '', rest = ''] = FENCE.exec(line) ?? []
  return width(before) < 4 && run.startsWith(mark) && run.length >= length && EMPTY.test(rest)
}

function definitionIn(line: string): Definition | null {
  const label = DEFINITION.exec(line)?.[1] ?? ''
  const valid = label.trim() !== '' && !label.startsWith('^') && label.length <= LONGEST_LABEL
  return valid ? { label, line } : null
}

const columns = (line: string): number => width(/^[ \t]*/.exec(line)?.[0] ?? '')

/** The columns of a piece at the beginning of a line; a tab advances to the next multiple of four. */
function width(piece: string): number {
  let column = 0
  for (const char of piece) column += char === '\t' ? 4 - (column % 4) : 1
  return column
}
