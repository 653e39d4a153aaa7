/** Undoing decisions: the edits are open again, and accepted text is removed from the document. Rejected text is never
 * written. */
import type { DocumentStore, EditData } from '@outlast/sdk'

/** Decisions that were made together, by proposal. */
export type Made = ReadonlyMap<string, readonly EditData[]>

export interface Undoing {
  /** The current label of the action. */
  label: string
  /** The edit to select afterwards. */
  editId: string
  /** Returns the message to show afterwards. */
  run: (store: DocumentStore) => Promise<string>
}

/** The undo of these decisions, the last one first, or null if there are none. */
export function reopening(made: Made): Undoing | null {
  const edits = [...made.values()].flat()
  if (edits.length === 0) return null
  const accepted = edits.some(({ state }) => state === 'accepted')
  return {
    editId: edits[0]!.id,
    label: edits.length === 1 ? 'Reopen the last edit' : `Reopen the last ${edits.length} edits`,
    run: async (store) => {
      let opened = 0
      for (const [proposalId, its] of [...made].reverse())
        if (its.length > 0) opened += (await store.reopen(proposalId, its)).edits.length
      const many = opened === 1 ? 'The edit is open again' : `${opened} edits are open again`
      return accepted ? `${many}. The accepted text was removed.` : `${many}.`
    },
  }
}
