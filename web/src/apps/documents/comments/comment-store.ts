/** The open document's comments, read thread by thread and block by block. */
import { useMemo } from 'react'
import type { CommentData, DocumentStore, SectionNode } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { useDocumentRoom } from '../document-context'
import { openByPlace, groupComments, type CommentThread } from './comment-threads'

interface Read {
  comments: readonly CommentData[]
  talks: readonly CommentThread[]
  /** Open talks by the block or section that they are on. */
  byPlace: ReadonlyMap<string, readonly CommentThread[]>
}

const NO_TALKS: readonly CommentThread[] = []
/** What was last made of a store's comments: all blocks ask for it, and it is made once. */
const reads = new WeakMap<DocumentStore, Read>()

function read(store: DocumentStore, comments: readonly CommentData[]): Read {
  const before = reads.get(store)
  if (before?.comments === comments) return before
  const talks = groupComments(comments, before?.talks)
  const now = { comments, talks, byPlace: openByPlace(talks, before?.byPlace) }
  reads.set(store, now)
  return now
}

/** All talks of the open document. */
export function useCommentThreads(): readonly CommentThread[] {
  const { store } = useDocumentRoom()
  return useSelected(store, ({ comments }) => read(store, comments).talks)
}

/** The open talks on one block, or on a section as a whole; drawn anew only when they change. */
export function useThreadsAt(id: string): readonly CommentThread[] {
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
