/** What everything inside an open document knows: its store, what is looked at, and how to lead somewhere. */
import { createContext, useContext } from 'react'
import type { DocumentStore } from '@outlast/sdk'
import type { FocusStore } from './focus-store'

export type PanelTab = 'comments' | 'thread' | 'review' | 'history'

export interface DocumentRoom {
  documentId: string
  projectId: string
  /** The document's own conversation. */
  threadId: string
  store: DocumentStore
  /** Which block is marked or edited: see `useFocusedBlock`. */
  focus: FocusStore
  /** Editors and owners; viewers read. */
  mayEdit: boolean
  /** Brings a block into view and marks it for a moment; `edit` also opens its editor. */
  scrollToBlock: (blockId: string, options?: { edit?: boolean }) => void
  scrollToSection: (sectionId: string) => void
  /** Shows a tab of the right panel; `item` is what is to be shown in it: a comment's, thread's, proposal's or edit's id, or a
   * version's number. */
  openPanel: (tab: PanelTab, item?: string | null) => void
  closePanel: () => void
}

export const DocumentContext = createContext<DocumentRoom | null>(null)

/** The same object for as long as the document is open, so that reading it draws nothing anew. */
export function useDocumentRoom(): DocumentRoom {
  const room = useContext(DocumentContext)
  if (room === null) throw new Error('useDocumentRoom is called outside of a document')
  return room
}

export interface PanelState {
  tab: PanelTab | null
  item: string | null
}

export const PanelContext = createContext<PanelState>({ tab: null, item: null })

/** Which tab of the right panel is shown, and what in it. */
export const usePanel = (): PanelState => useContext(PanelContext)

/** What each tab of the right panel is given. */
export interface PanelProps {
  /** A comment's, thread's, proposal's, edit's id, or a version's number; null: nothing in particular. */
  item: string | null
}
