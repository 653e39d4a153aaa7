import { useMemo } from 'react'
import { flushSync } from 'react-dom'
import { Conflict } from '@outlast/sdk'
import { complain, say } from '@/components/toast'
import { useDocumentRoom, type DocumentRoom } from './document-context'
import type { EditorMoves } from './editor/block-editor'
import { useEditorSession } from './editor/use-editor-session'
import { shapeOf } from './editor/block-types'
import { HEADING, type EditorSession } from './editor/editor-session'
import { blockMoved } from './block-moves'
import { neighbour, rowOf } from './row-order'

export const bodyOf = (): Element | null => document.querySelector('[data-document-body]')

/** Effects of an editor's keys on the rows around it. */
export function useRowMoves(key: string, sectionId: string): EditorMoves {
  const room = useDocumentRoom()
  const session = useEditorSession()
  return useMemo(() => rowMoves(room, session, key, sectionId), [room, session, key, sectionId])
}

/** Ends the editing of a row; the row itself keeps the focus. */
export function leaveByKey(focus: DocumentRoom['focus'], key: string): void {
  flushSync(() => focus.leave(key))
  rowOf(bodyOf(), key)?.focus({ preventScroll: true })
}

function rowMoves(room: DocumentRoom, session: EditorSession, key: string, sectionId: string): EditorMoves {
  const { focus } = room
  return {
    onLeave: (by) => {
      const next = neighbour(bodyOf(), key, by)
      if (next !== null) focus.edit(next, by === 1 ? 'start' : 'end')
      else if (by === 1) focus.edit(session.begin({ sectionId, after: key }))
    },
    onDone: (byKey) => {
      if (byKey) leaveByKey(focus, key)
      else focus.leave(key)
    },
    onSplit: (before, after) => {
      session.type(key, before)
      focus.edit(session.begin({ sectionId, after: key }, after), 'start')
    },
    onBack: (text) => {
      const above = neighbour(bodyOf(), key, -1)
      if (text.trim() === '') {
        if (above !== null) focus.edit(above, 'end')
        session.remove(key).catch(complain)
        return
      }
      const caret = above === null ? null : joinAbove(session, above, text)
      if (above === null || caret === null) return
      focus.edit(above, caret)
      session.remove(key).catch(complain)
    },
    onDelete: () => {
      const next = neighbour(bodyOf(), key, -1)
      focus.mark(next)
      session.remove(key).catch(complain)
    },
    onMove: (by) => void moveBlock(room, session, key, by),
  }
}

/** Appends a text to the block above and returns the position of the join; null if the two cannot be joined. */
export function joinAbove(session: EditorSession, above: string, text: string): number | null {
  const { store } = session
  const state = session.status(above)?.state
  const before = session.textOf(above) ?? store.get().content.blocks[store.idOf(above)]?.markdown
  if (above.startsWith(HEADING) || state === 'conflict' || state === 'gone' || before === undefined) return null
  if (shapeOf(before) !== 'text' || shapeOf(text) !== 'text') return null
  session.write(above, before, `${before} ${text}`)
  return before.length + 1
}

/** Moves a block one step up or down, after its draft is saved. */
export async function moveBlock(
  { store, focus }: DocumentRoom,
  session: EditorSession,
  key: string,
  by: -1 | 1,
): Promise<void> {
  await session.save(key)
  const change = blockMoved(store.get().content, store.idOf(key), by)
  if (change === null) return
  const { editing } = focus.get()
  const box = bodyOf()?.querySelector<HTMLTextAreaElement>('textarea[data-writing]')
  const caret = box?.selectionStart ?? 'end'
  const moved = store.change([change]).catch(refused)
  // An element that is moved in the page loses the focus: restore it.
  if (editing) requestAnimationFrame(() => focus.edit(key, caret))
  else leaveByKey(focus, key)
  await moved
  if (!editing) requestAnimationFrame(() => rowOf(bodyOf(), key)?.scrollIntoView({ block: 'nearest' }))
}

/** Shows why an action was refused; if a lock was the reason, names its holder. */
export function refused(error: Error): void {
  if (error instanceof Conflict && error.code === 'section_locked') say(error.message)
  else complain(error)
}
