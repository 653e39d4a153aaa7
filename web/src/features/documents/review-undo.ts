/** Taking back what a decision did to a document. A decision itself stays made: what is taken back is its effect. */
import type { DocumentChange, DocumentContent, DocumentStore, EditData } from '@outlast/sdk'

export interface Undoing {
  /** What the key does now. */
  label: string
  /** What is said once it is done. */
  done: string
  run: (store: DocumentStore) => Promise<unknown>
}

/** What brings back the text as it was before edits were accepted as `version`. null: nothing was changed. */
export function inverse(
  accepted: readonly EditData[],
  before: DocumentContent,
  version: number | null,
): Undoing | null {
  if (version === null) return null
  return {
    label: accepted.length === 1 ? 'Take back what was accepted' : `Take back ${accepted.length} accepted edits`,
    done: 'The text is as it was before.',
    run: (store) => {
      if (store.get().content.version <= version) return store.client.documents.restore(store.documentId, version - 1)
      return store.change(backwards(accepted, before), 'Took back an accepted edit')
    },
  }
}

/** What makes rejected edits after all, as one's own changes. null: their place is gone. */
export function forward(rejected: readonly EditData[], before: DocumentContent): Undoing | null {
  const changes = rejected.flatMap((edit) => asChange(edit, before))
  if (changes.length < rejected.length) return null
  return {
    label:
      rejected.length === 1 ? 'Make the rejected change after all' : `Make ${rejected.length} rejected edits after all`,
    done: 'The change was made after all, as yours.',
    run: (store) => store.change(changes, 'Made a change that was rejected first'),
  }
}

/** An edit as a change of a person. Pure. */
export function asChange(edit: EditData, { sections }: Pick<DocumentContent, 'sections'>): DocumentChange[] {
  const { op, block_id, section_id, after_id, heading, level, old_text: old, new_text: markdown } = edit
  const known = section_id !== null && sections[section_id] !== undefined
  if (op === 'replace' && block_id !== null) return [{ op: 'edit_block', block_id, markdown, old }]
  if (op === 'delete' && block_id !== null) return [{ op: 'delete_block', block_id, old }]
  if (op === 'move' && block_id !== null && known) return [{ op: 'move_block', block_id, section_id, after: after_id }]
  if (op === 'insert' && known) return [{ op: 'insert_block', section_id, after: after_id, markdown }]
  if (op === 'insert_section')
    return [{ op: 'insert_section', after: after_id, heading: heading ?? '', level: level ?? 2, markdown }]
  return []
}

/** What leads back where others have changed the document since: texts and places; not what was made or deleted. */
function backwards(accepted: readonly EditData[], { blocks, sections }: DocumentContent): DocumentChange[] {
  return accepted.map((edit) => {
    const block = blocks[edit.block_id ?? '']
    if (edit.op === 'replace' && block !== undefined)
      return { op: 'edit_block', block_id: block.id, markdown: block.markdown, old: edit.applied_text ?? edit.new_text }
    const section = sections[block?.section_id ?? '']
    if (edit.op === 'move' && block !== undefined && section !== undefined) {
      const after = section.blocks[section.blocks.indexOf(block.id) - 1] ?? null
      return { op: 'move_block', block_id: block.id, section_id: section.id, after }
    }
    throw new Error('The document was changed since. Take it back in its history.')
  })
}
