/**
 * What else is drawn at a block. Each slot is a small component of its own that reads its own store by the block's id, so
 * that a new comment or proposal draws this block and no other.
 */
import type { ComponentProps } from 'react'
import type { Markdown } from '@/components/markdown'

type Plugins = NonNullable<ComponentProps<typeof Markdown>['rehype']>

const NONE: Plugins = []

/** Changes to how a block's text is drawn, such as marks on commented words. Always the same list while nothing changes. */
export function useBlockMarks(_blockId: string): Plugins {
  return NONE
}

/** In the right margin of a block (over its corner on a phone): how many open comments it has. */
export function BlockMargin(_: { blockId: string }) {
  return null
}

/** Below a block: edits that are proposed for it, or after it. */
export function BlockBelow(_: { blockId: string }) {
  return null
}

/** Below a section's heading, before its blocks: edits that are proposed for its beginning. */
export function SectionBelow(_: { sectionId: string }) {
  return null
}

/** In the bar over selected text, or nothing. Drawn once a document, over its blocks. */
export function DocumentOverlay() {
  return null
}
