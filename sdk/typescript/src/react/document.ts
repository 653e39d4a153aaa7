import type { BlockData, CommentData, EditData, ProposalData } from '../api.gen.ts'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { SectionNode } from '../document-content.ts'
import { DocumentStore, type DocumentSnapshot } from '../document-store.ts'
import type { Store } from '../store.ts'
import { useShared, useStore } from './context.tsx'
import { useProjectNews } from './news.ts'

/** One value of a store; the component renders again only if the value is another object. `select` must return the same
 * object while nothing changes. */
export function useSelected<T, V>(store: Store<T>, select: (value: T) => V): V {
  const get = () => select(store.get())
  return useSyncExternalStore(store.subscribe, get, get)
}

/** A document kept up to date while the component is mounted, without rendering again for every change: read it with
 * `useSelected`, `useBlock` and similar hooks. */
export function useDocumentStore(documentId: string): DocumentStore {
  const store = useShared(`document ${documentId}`, (client) => new DocumentStore(client, documentId))
  const projectId = useSelected(store, ({ document }) => document?.project_id ?? null)
  useProjectNews(projectId)
  return store
}

/** A document with its content, comments, proposals and presence; renders again whenever any of them changes. */
export function useDocument(documentId: string): DocumentSnapshot & { store: DocumentStore } {
  const store = useDocumentStore(documentId)
  return { ...useStore(store), store }
}

/** null if it was deleted. */
export const useBlock = (store: DocumentStore, blockId: string): BlockData | null =>
  useSelected(store, ({ content }) => content.blocks[blockId] ?? null)

/** With the ids of its blocks; null if it was deleted. */
export const useSection = (store: DocumentStore, sectionId: string): SectionNode | null =>
  useSelected(store, ({ content }) => content.sections[sectionId] ?? null)

const NO_COMMENTS: readonly CommentData[] = []

/** The comments of a block, or all without `blockId`. Oldest first, with their replies. */
export function useComments(store: DocumentStore, blockId?: string): readonly CommentData[] {
  const all = useSelected(store, ({ comments }) => comments)
  return useMemo(() => {
    if (blockId === undefined) return all
    const found = all.filter((comment) => comment.block_id === blockId)
    return found.length === 0 ? NO_COMMENTS : found
  }, [all, blockId])
}

/** Proposals for the whole document, or in one thread. Oldest first. */
export function useProposals(store: DocumentStore, threadId?: string): readonly ProposalData[] {
  const all = useSelected(store, ({ proposals }) => proposals)
  return useMemo(
    () => (threadId === undefined ? all : all.filter((proposal) => proposal.thread_id === threadId)),
    [all, threadId],
  )
}

/** One proposal, loaded if it is not known yet; null until then. */
export function useProposal(store: DocumentStore, proposalId: string): ProposalData | null {
  const found = useSelected(store, ({ proposals }) => proposals.find(({ id }) => id === proposalId) ?? null)
  const loading = useSelected(store, (snapshot) => snapshot.loading)
  useEffect(() => {
    if (found === null && !loading) void store.ensureProposal(proposalId).catch(() => undefined)
  }, [store, proposalId, found, loading])
  return found
}

/** Undecided edits, in the order of their proposals. */
export const openEdits = (proposals: readonly ProposalData[]): EditData[] =>
  proposals.flatMap(({ edits }) => edits.filter(({ state }) => state === 'open'))
