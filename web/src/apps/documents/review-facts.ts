/** More facts about an edit: its place, and the lock on its section. */
import type { BlockData, DocumentSnapshot, EditData, Lock } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { useReached } from '@/lib/time'
import { useMe } from '@/features/session/session-gate'
import { useDocumentRoom } from './document-context'

function sectionIdOf(edit: EditData, { content }: DocumentSnapshot): string | null {
  const block = edit.block_id === null ? undefined : content.blocks[edit.block_id]
  return block?.section_id ?? edit.section_id ?? (edit.op === 'insert_section' ? edit.after_id : null)
}

/** The heading of its section; empty for the text before the first heading and for deleted sections. */
export function useWhere(edit: EditData): string {
  const { store } = useDocumentRoom()
  return useSelected(store, (snapshot) => snapshot.content.sections[sectionIdOf(edit, snapshot) ?? '']?.heading ?? '')
}

/** The current block that an edit changes, or null if there is none. */
export function useNow({ block_id }: EditData): BlockData | null {
  const { store } = useDocumentRoom()
  return useSelected(store, ({ content }) => (block_id === null ? null : (content.blocks[block_id] ?? null)))
}

/** Another user's lock on a section that the edit changes, or null if there is none. */
export function useHeld(edit: EditData): Lock | null {
  const { store } = useDocumentRoom()
  const me = useMe().user.id
  const lock = useSelected(store, (snapshot) => {
    const { sections } = snapshot.content
    const touched = edit.op === 'insert_section' ? [] : [sectionIdOf(edit, snapshot), edit.section_id]
    return (
      touched.map((id) => sections[id ?? '']?.lock ?? null).find((one) => one !== null && one.holder_id !== me) ?? null
    )
  })
  const expired = useReached(lock?.expires_at ?? null)
  return expired ? null : lock
}

/** The target of a moved block, in words. */
export function useTarget(edit: EditData): string {
  const { store } = useDocumentRoom()
  return useSelected(store, ({ content }) => {
    const heading = content.sections[edit.section_id ?? '']?.heading ?? ''
    const place = heading === '' ? 'the beginning' : `\u201c${heading}\u201d`
    if (edit.after_id === null) return heading === '' ? place : `the start of ${place}`
    const text = content.blocks[edit.after_id]?.markdown.split('\n')[0] ?? ''
    const gist = text.length > 48 ? `${text.slice(0, 48).trimEnd()}\u2026` : text
    return `${place}, after \u201c${gist}\u201d`
  })
}
