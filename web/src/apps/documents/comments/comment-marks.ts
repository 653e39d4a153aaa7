/** Marks on commented words, as a plugin for rendered Markdown. Pure. */
import type { Quote } from '@outlast/sdk'
import { findQuote } from './quotes'

export interface MarkedQuote {
  /** The comment's id, or `draft` for the comment that is being written. */
  id: string
  quote: Quote
}

interface Node {
  type: string
  tagName?: string
  value?: string
  properties?: Record<string, unknown>
  children?: Node[]
}

/** The range of a text node within the whole text. */
interface Run {
  node: Node
  from: number
}

/** Marks the quotes in Markdown's tree: `mark[data-comment]`. Code blocks are rendered separately and stay
 * unchanged. */
export const markQuotes = (quotes: readonly MarkedQuote[]) => () => (tree: Node) => {
  const runs: Run[] = []
  const text = collect(tree, runs, '')
  const ranges = quotes.flatMap(({ id, quote }) => {
    const found = findQuote(text, quote)
    return found === null ? [] : [{ id, from: found[0], to: found[1] }]
  })
  if (ranges.length > 0) split(tree, new Map(runs.map(({ node, from }) => [node, from])), ranges)
}

function collect(node: Node, runs: Run[], before: string): string {
  if (node.tagName === 'pre') return before
  if (node.type === 'text' && node.value !== undefined) {
    runs.push({ node, from: before.length })
    return before + node.value
  }
  return (node.children ?? []).reduce((text, child) => collect(child, runs, text), before)
}

interface Range {
  id: string
  from: number
  to: number
}

function split(node: Node, starts: Map<Node, number>, ranges: readonly Range[]): void {
  if (node.children === undefined) return
  node.children = node.children.flatMap((child) => {
    const from = starts.get(child)
    if (from === undefined || child.value === undefined) {
      split(child, starts, ranges)
      return [child]
    }
    return pieces(child.value, from, ranges)
  })
}

/** A text split where marks begin and end. Of overlapping marks, the one that begins last is on top. */
function pieces(text: string, from: number, ranges: readonly Range[]): Node[] {
  const to = from + text.length
  const here = ranges.filter((range) => range.from < to && range.to > from)
  if (here.length === 0) return [{ type: 'text', value: text }]
  const cuts = new Set([from, to])
  for (const range of here) for (const cut of [range.from, range.to]) if (cut > from && cut < to) cuts.add(cut)
  const sorted = [...cuts].toSorted((one, other) => one - other)
  return sorted.slice(0, -1).map((cut, at): Node => {
    const value = text.slice(cut - from, (sorted[at + 1] ?? to) - from)
    const over = here.filter((range) => range.from <= cut && range.to > cut)
    const top = over.toSorted((one, other) => other.from - one.from)[0]
    if (top === undefined || value.trim() === '') return { type: 'text', value }
    const properties = { className: ['comment-mark'], dataComment: top.id }
    return { type: 'element', tagName: 'mark', properties, children: [{ type: 'text', value }] }
  })
}
