/** Shared context of everything inside an open document: its store, the current selection, and navigation. */
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
  /** The block that is focused or edited: see `useFocusedBlock`. */
  focus: FocusStore
  /** Editors and owners; viewers read. */
  mayEdit: boolean
  /** Scrolls a block into view and highlights it briefly; `edit` also opens its editor. */
  scrollToBlock: (blockId: string, options?: { edit?: boolean }) => void
  scrollToSection: (sectionId: string) => void
  /** Shows a tab of the right panel; `item` is the thing to show in it: the id of a comment, thread, proposal or edit,
   * or a version's number. */
  openPanel: (tab: PanelTab, item?: string | null) => void
  closePanel: () => void
}

export const DocumentContext = createContext<DocumentRoom | null>(null)

/** The object stays the same while the document is open, so reading it causes no rendering. */
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

/** The open tab of the right panel, and the item in it. */
export const usePanel = (): PanelState => useContext(PanelContext)

/** Props of each tab of the right panel. */
export interface PanelProps {
  /** The id of a comment, thread, proposal or edit, or a version's number; null: no particular item. */
  item: string | null
}
