/** Types of blocks: how their Markdown is read and written, and their labels in menus. Pure. */
import {
  CodeXml,
  Heading1,
  Heading2,
  Heading3,
  List,
  ListChecks,
  ListOrdered,
  Minus,
  Pilcrow,
  Quote,
  Table,
  type LucideIcon,
} from 'lucide-react'

export type Shape = 'text' | 'h1' | 'h2' | 'h3' | 'bullets' | 'numbers' | 'tasks' | 'quote' | 'code' | 'table' | 'rule'

/** The types that a block can have, in the order of the menus. `words` match the text typed after a slash. */
export const SHAPES: readonly { shape: Shape; label: string; icon: LucideIcon; words: string }[] = [
  { shape: 'text', label: 'Text', icon: Pilcrow, words: 'text paragraph plain' },
  { shape: 'h1', label: 'Heading 1', icon: Heading1, words: 'heading 1 h1 title section' },
  { shape: 'h2', label: 'Heading 2', icon: Heading2, words: 'heading 2 h2 section' },
  { shape: 'h3', label: 'Heading 3', icon: Heading3, words: 'heading 3 h3 section' },
  { shape: 'bullets', label: 'List', icon: List, words: 'list bullets ul' },
  { shape: 'numbers', label: 'Numbered list', icon: ListOrdered, words: 'numbered list ol' },
  { shape: 'tasks', label: 'Checklist', icon: ListChecks, words: 'checklist tasks todo' },
  { shape: 'quote', label: 'Quote', icon: Quote, words: 'quote citation' },
  { shape: 'code', label: 'Code', icon: CodeXml, words: 'code program' },
  { shape: 'table', label: 'Table', icon: Table, words: 'table grid' },
  { shape: 'rule', label: 'Line', icon: Minus, words: 'line rule divider' },
]

/** The types that match the text after the slash; all types if it is empty. */
export function shapesFor(typed: string): typeof SHAPES {
  const wanted = typed.trim().toLowerCase()
  return wanted === '' ? SHAPES : SHAPES.filter(({ words }) => words.split(' ').some((word) => word.startsWith(wanted)))
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/
export const BULLET = /^(\s*)([-*+])( \[[ xX]\])?( +|$)/
export const NUMBER = /^(\s*)(\d{1,9})([.)])( +|$)/
export const QUOTE = /^ {0,3}> ?/
const HEADING = /^ {0,3}(#{1,6})( +|$)/

/** The type of a block's text, for the editor's keys. */
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

/** True if the server will certainly keep this text as one block. */
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

const bareLine = (line: string): string =>
  line.replace(HEADING, '').replace(BULLET, '').replace(NUMBER, '').replace(QUOTE, '')

/** The words of a block without the Markdown of its list, heading, quote or code. */
export function bareText(text: string): string {
  if (shapeOf(text) === 'code')
    return text
      .split('\n')
      .filter((line) => !FENCE.test(line))
      .join('\n')
  return text.split('\n').map(bareLine).join('\n')
}

const TABLE = '| Column | Column |\n| --- | --- |\n|  |  |'

/** Words as Markdown of a type. */
export function shaped(words: string, shape: Shape): string {
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
