import type { ReactNode } from 'react'

const LOOK = 'rounded-sm bg-warn-soft text-warn ring-1 ring-warn-line'

/** A text with its matches marked. */
export function Marked({ text, words }: { text: string; words: readonly string[] }): ReactNode {
  return parts(text, words).map((part, at) =>
    at % 2 === 1 ? (
      <mark key={at} className={LOOK}>
        {part}
      </mark>
    ) : (
      part
    ),
  )
}

/** The text split at whole words: every second piece is a match. Pure. */
export function parts(text: string, words: readonly string[]): string[] {
  const wanted = words
    .filter((word) => word !== '')
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  if (wanted.length === 0) return [text]
  return text.split(new RegExp(String.raw`(?<![\p{L}\p{N}_])(${wanted.join('|')})(?![\p{L}\p{N}_])`, 'gu'))
}

interface Node {
  type: string
  tagName?: string
  value?: string
  properties?: Record<string, unknown>
  children?: Node[]
}

/** The same inside Markdown: a plugin that works on its tree. Code blocks stay unchanged. */
export const markWords = (words: readonly string[]) => () => (tree: Node) => mark(tree, words)

function mark(node: Node, words: readonly string[]): void {
  if (node.children === undefined || node.tagName === 'pre') return
  node.children = node.children.flatMap((child) => {
    if (child.type !== 'text' || child.value === undefined) {
      mark(child, words)
      return [child]
    }
    return parts(child.value, words).map((value, at): Node => {
      const text = { type: 'text', value }
      if (at % 2 === 0) return text
      return { type: 'element', tagName: 'mark', properties: { className: LOOK.split(' ') }, children: [text] }
    })
  })
}
