/** The open document's comments, grouped by thread and by block. */
import { useMemo } from 'react'
import type { CommentData, DocumentStore, SectionNode } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { useDocumentRoom } from '../document-context'
import { openByPlace, groupComments, type CommentThread } from './comment-threads'

interface Read {
  comments: readonly CommentData[]
  talks: readonly CommentThread[]
  /** Open comment threads by their block or section. */
  byPlace: ReadonlyMap<string, readonly CommentThread[]>
}

const NO_TALKS: readonly CommentThread[] = []
/** The last result for each store: all blocks read it, and it is computed once. */
const reads = new WeakMap<DocumentStore, Read>()

function read(store: DocumentStore, comments: readonly CommentData[]): Read {
  const before = reads.get(store)
  if (before?.comments === comments) return before
  const talks = groupComments(comments, before?.talks)
  const now = { comments, talks, byPlace: openByPlace(talks, before?.byPlace) }
  reads.set(store, now)
  return now
}

/** All comment threads of the open document. */
export function useCommentThreads(): readonly CommentThread[] {
  const { store } = useDocumentRoom()
  return useSelected(store, ({ comments }) => read(store, comments).talks)
}

/** The open comment threads on one block, or on a section as a whole. Renders only when they change. */
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
