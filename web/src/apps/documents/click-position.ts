import type { MouseEvent } from 'react'
import { sourcePlace } from './editor/writing'

/** The position in a block's Markdown that corresponds to a click on the rendered block. */
export function positionOfClick(event: MouseEvent<HTMLElement>, shown: HTMLElement, markdown: string): number | 'end' {
  const spot = caretAt(event.clientX, event.clientY)
  if (spot === null || !shown.contains(spot.node)) return 'end'
  const range = document.createRange()
  range.selectNodeContents(shown)
  range.setEnd(spot.node, spot.offset)
  return sourcePlace(markdown, shown.textContent, range.toString().length)
}

interface Caret {
  node: Node
  offset: number
}

function caretAt(x: number, y: number): Caret | null {
  if (typeof document.caretPositionFromPoint === 'function') {
    const found = document.caretPositionFromPoint(x, y)
    return found === null ? null : { node: found.offsetNode, offset: found.offset }
  }
  const range = document.caretRangeFromPoint(x, y)
  return range === null ? null : { node: range.startContainer, offset: range.startOffset }
}
