/** The text selection in a document's blocks. */
import { useEffect, useState } from 'react'
import type { About } from './comment-draft'
import { quoteOf } from './quotes'

export interface Selected {
  about: About
  /** The whole selection, which may span several blocks. */
  text: string
  /** The bounds of the selection, in pixels of the window. */
  rect: DOMRect
}

/** Selectors of blocks and sections in the page. */
export const BLOCK = '[data-block-id]'
const SECTION = '[data-section-id]'

const elementOf = (node: Node | null): Element | null =>
  node instanceof Element ? node : (node?.parentElement ?? null)

/** The current selection within `box`; null if there is none, or if it is in an editor. */
function readSelection(box: HTMLElement): Selected | null {
  const selection = getSelection()
  if (selection === null || selection.isCollapsed || selection.rangeCount === 0) return null
  const range = selection.getRangeAt(0)
  if (!box.contains(range.commonAncestorContainer)) return null
  const first = firstBlock(range, box)
  if (first === null) return null
  const { block, from, to } = first
  const quote = quoteOf(textOf(block).textContent ?? '', from, to)
  const blockId = block.getAttribute('data-block-id')
  const text = selection.toString().trim()
  if (quote === null || blockId === null || text === '') return null
  const section_id = block.closest(SECTION)?.getAttribute('data-section-id') ?? null
  return { about: { section_id, block_id: blockId, quote }, text, rect: range.getBoundingClientRect() }
}

/** The rendered text of a block, without the buttons around it. */
const textOf = (block: Element): Element => block.querySelector('[data-block-text]') ?? block

/** The first block that contains selected text, and the range of characters in it. */
function firstBlock(range: Range, box: HTMLElement): { block: Element; from: number; to: number } | null {
  const start = elementOf(range.startContainer)?.closest(BLOCK)
  const candidates =
    start !== null && start !== undefined
      ? [start]
      : [...box.querySelectorAll(BLOCK)].filter((block) => range.intersectsNode(block)).slice(0, 1)
  for (const block of candidates) {
    const text = textOf(block)
    const from = text.contains(range.startContainer) ? lengthUntil(text, range.startContainer, range.startOffset) : 0
    const whole = (text.textContent ?? '').length
    const to = text.contains(range.endContainer) ? lengthUntil(text, range.endContainer, range.endOffset) : whole
    if (to > from) return { block, from, to }
  }
  return null
}

function lengthUntil(within: Element, node: Node, offset: number): number {
  const range = document.createRange()
  range.selectNodeContents(within)
  range.setEnd(node, offset)
  return range.toString().length
}

/** Follows the selection within an element, once the pointer is released. */
export function useSelected(box: HTMLElement | null): [Selected | null, clear: () => void] {
  const [selected, setSelected] = useState<Selected | null>(null)
  useEffect(() => {
    if (box === null) return
    const life = new AbortController()
    const { signal } = life
    let held = false
    let waiting = 0
    const look = () => {
      cancelAnimationFrame(waiting)
      waiting = requestAnimationFrame(() => setSelected(held ? null : readSelection(box)))
    }
    document.addEventListener('selectionchange', () => held || look(), { signal })
    document.addEventListener('pointerdown', ({ pointerType }) => void (held = pointerType === 'mouse'), {
      signal,
      capture: true,
    })
    for (const end of ['pointerup', 'pointercancel'] as const)
      document.addEventListener(end, () => ((held = false), look()), { signal, capture: true })
    addEventListener('scroll', () => setSelected((now) => now && readSelection(box)), {
      signal,
      capture: true,
      passive: true,
    })
    addEventListener('resize', look, { signal })
    return () => (life.abort(), cancelAnimationFrame(waiting))
  }, [box])
  return [selected, () => (getSelection()?.removeAllRanges(), setSelected(null))]
}
