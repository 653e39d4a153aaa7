/** Taking back what a decision did to a document. A decision itself stays made: what is taken back is its effect. */
import {
  OutlastError,
  type DocumentChange,
  type DocumentContent,
  type DocumentStore,
  type EditData,
  type SectionData,
} from '@outlast/sdk'

export interface Undoing {
  /** What the key does now. */
  label: string
  /** Answers what is said once it is done. */
  run: (store: DocumentStore) => Promise<string>
}

/** What takes back what accepted edits did in `version`, and nothing that anybody wrote since. null: nothing was
 * changed. */
export function inverse(accepted: readonly EditData[], version: number | null): Undoing | null {
  if (version === null) return null
  return {
    label: accepted.length === 1 ? 'Take back what was accepted' : `Take back ${accepted.length} accepted edits`,
    run: async (store) => {
      const { client, documentId } = store
      try {
        await client.documents.restore(documentId, version - 1, version)
        return 'The text is as it was before.'
      } catch (reason) {
        if (!(reason instanceof OutlastError) || reason.code !== 'text_changed') throw reason
      }
      const [was, became] = await Promise.all(
        [version - 1, version].map((one) => client.documents.version(documentId, one)),
      )
      const moved = accepted.flatMap(({ op, block_id }) => (op === 'move' && block_id !== null ? [block_id] : []))
      await store.change(backwards(was!.content, became!.content, moved, version), 'Took back what was accepted')
      return 'It was taken back. What others have changed since then stays.'
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
    run: async (store) => {
      await store.change(changes, 'Made a change that was rejected first')
      return 'The change was made after all, as yours.'
    },
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

/** The changes that lead from what a version made of a document back to what it was before: each with the text that it
 * takes back, so that one that somebody has changed since is merged, or refused. `moved`: the blocks that were put
 * elsewhere; others only got other neighbours. Pure. */
export function backwards(
  was: readonly SectionData[],
  became: readonly SectionData[],
  moved: readonly string[],
  version: number,
): DocumentChange[] {
  const [old, now] = [placed(was), placed(became)]
  const known = new Set(was.map(({ id }) => id))
  const made = became.filter(({ id }) => !known.has(id))
  const back: DocumentChange[] = []
  const gone: DocumentChange[] = []
  for (const [id, { markdown, section_id, after }] of old) {
    const here = now.get(id)
    const place = { section_id, after: after === null || now.has(after) ? after : refOf(after) }
    if (here === undefined) back.push({ op: 'insert_block', ...place, markdown, ref: refOf(id) })
    else if (moved.includes(id)) back.push({ op: 'move_block', block_id: id, ...place })
    if (here !== undefined && here.markdown !== markdown)
      back.push({ op: 'edit_block', block_id: id, markdown, old: here.markdown })
  }
  for (const [id, { markdown, section_id }] of now)
    if (!old.has(id) && known.has(section_id)) gone.push({ op: 'delete_block', block_id: id, old: markdown })
  for (const { id } of made) gone.push({ op: 'delete_section', section_id: id, seen: version })
  return [...back, ...gone]
}

const refOf = (blockId: string): string => `back.${blockId}`

interface Placed {
  markdown: string
  section_id: string
  after: string | null
}

const placed = (sections: readonly SectionData[]): Map<string, Placed> =>
  new Map(
    sections.flatMap(({ id: section_id, blocks }) =>
      blocks.map(({ id, markdown }, at): [string, Placed] => [
        id,
        { markdown, section_id, after: blocks[at - 1]?.id ?? null },
      ]),
    ),
  )
