/** What was typed and is not saved yet, kept by this browser so that a reload, a crash or a refusal loses nothing. */
import type { Sent } from './writing-desk'

export interface KeptDraft {
  /** The text that it started from. */
  base: string
  text: string
  /** Where a block that the server does not know yet belongs. */
  place: { sectionId: string; after: string | null } | null
  /** What was sent of it and is not answered. */
  sent?: Sent | null
  at: number
}

const prefix = (documentId: string): string => `outlast.document-draft.${documentId}.`

export function keepDraft(documentId: string, key: string, draft: KeptDraft): void {
  try {
    localStorage.setItem(prefix(documentId) + key, JSON.stringify(draft))
  } catch {
    // The browser's storage is full or forbidden: the text is still in the page, and about to be saved.
  }
}

export const dropDraft = (documentId: string, key: string): void => localStorage.removeItem(prefix(documentId) + key)

/** All kept drafts of a document. */
export function keptDrafts(documentId: string): Map<string, KeptDraft> {
  const found = new Map<string, KeptDraft>()
  const start = prefix(documentId)
  for (let at = 0; at < localStorage.length; at += 1) {
    const name = localStorage.key(at) ?? ''
    if (!name.startsWith(start)) continue
    const draft = parsed(localStorage.getItem(name) ?? '')
    if (draft !== null) found.set(name.slice(start.length), draft)
  }
  return found
}

function parsed(text: string): KeptDraft | null {
  try {
    const value = JSON.parse(text) as KeptDraft
    return typeof value.text === 'string' && typeof value.base === 'string' ? value : null
  } catch {
    return null
  }
}
