/** Selectors for the open document's store: each hook renders its component only when its own piece changes. */
import type { BlockData, DocumentData } from '@outlast/sdk'
import { useBlock, useSelected } from '@outlast/sdk/react'
import { useDocumentRoom } from './document-context'

/** Title, counts, version; null until loaded. */
export function useDocumentData(): DocumentData | null {
  return useSelected(useDocumentRoom().store, ({ document }) => document)
}

/** The ids of the document's sections, in order. */
export function useOrder(): readonly string[] {
  return useSelected(useDocumentRoom().store, ({ content }) => content.order)
}

export const useBlockOf = (blockId: string): BlockData | null => useBlock(useDocumentRoom().store, blockId)
