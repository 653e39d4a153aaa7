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
import type { Shape } from './writing'

/** What a block can be made, in the order of the menus. `words` find it after a slash. */
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

/** Those that fit what was typed after the slash; all for nothing. */
export function shapesFor(typed: string): typeof SHAPES {
  const wanted = typed.trim().toLowerCase()
  return wanted === '' ? SHAPES : SHAPES.filter(({ words }) => words.split(' ').some((word) => word.startsWith(wanted)))
}
