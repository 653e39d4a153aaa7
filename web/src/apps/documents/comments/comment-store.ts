/** The open document's comments, read talk by talk and block by block. */
import { useMemo } from 'react'
import type { CommentData, DocumentStore, SectionNode } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { useDocumentRoom } from '../document-context'
import { openByPlace, talksOf, type Talk } from './talks'

interface Read {
  comments: readonly CommentData[]
  talks: readonly Talk[]
  /** Open talks by the block or section that they are on. */
  byPlace: ReadonlyMap<string, readonly Talk[]>
}

const NO_TALKS: readonly Talk[] = []
/** What was last made of a store's comments: all blocks ask for it, and it is made once. */
const reads = new WeakMap<DocumentStore, Read>()

function read(store: DocumentStore, comments: readonly CommentData[]): Read {
  const before = reads.get(store)
  if (before?.comments === comments) return before
  const talks = talksOf(comments, before?.talks)
  const now = { comments, talks, byPlace: openByPlace(talks, before?.byPlace) }
  reads.set(store, now)
  return now
}

/** All talks of the open document. */
export function useTalks(): readonly Talk[] {
  const { store } = useDocumentRoom()
  return useSelected(store, ({ comments }) => read(store, comments).talks)
}

/** The open talks on one block, or on a section as a whole; drawn anew only when they change. */
export function useTalksAt(id: string): readonly Talk[] {
  const { store } = useDocumentRoom()
  return useSelected(store, ({ comments }) => read(store, comments).byPlace.get(id) ?? NO_TALKS)
}

/** The open document's sections in order, with the ids of their blocks. */
export function useOutline(): SectionNode[] {
  const { store } = useDocumentRoom()
  const order = useSelected(store, ({ content }) => content.order)
  const sections = useSelected(store, ({ content }) => content.sections)
  return useMemo(() => order.flatMap((id) => sections[id] ?? []), [order, sections])
}
