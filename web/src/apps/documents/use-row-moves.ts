import { useMemo } from 'react'
import { flushSync } from 'react-dom'
import { Conflict } from '@outlast/sdk'
import { complain, say } from '@/components/toast'
import { useDocumentRoom, type DocumentRoom } from './document-context'
import type { EditorMoves } from './editor/block-editor'
import { useDesk } from './editor/use-desk'
import { shapeOf } from './editor/writing'
import { HEADING, type WritingDesk } from './editor/writing-desk'
import { blockMoved } from './moving'
import { neighbour, rowOf } from './rows'

export const bodyOf = (): Element | null => document.querySelector('[data-document-body]')

/** What the keys of an editor do to the rows around it. */
export function useRowMoves(key: string, sectionId: string): EditorMoves {
  const room = useDocumentRoom()
  const desk = useDesk()
  return useMemo(() => rowMoves(room, desk, key, sectionId), [room, desk, key, sectionId])
}

/** Ends the editing of a row; the keys go on at the row itself. */
export function leaveByKey(focus: DocumentRoom['focus'], key: string): void {
  flushSync(() => focus.leave(key))
  rowOf(bodyOf(), key)?.focus({ preventScroll: true })
}

function rowMoves(room: DocumentRoom, desk: WritingDesk, key: string, sectionId: string): EditorMoves {
  const { focus } = room
  return {
    onLeave: (by) => {
      const next = neighbour(bodyOf(), key, by)
      if (next !== null) focus.edit(next, by === 1 ? 'start' : 'end')
      else if (by === 1) focus.edit(desk.begin({ sectionId, after: key }))
    },
    onDone: (byKey) => {
      if (byKey) leaveByKey(focus, key)
      else focus.leave(key)
    },
    onSplit: (before, after) => {
      desk.type(key, before)
      focus.edit(desk.begin({ sectionId, after: key }, after), 'start')
    },
    onBack: (text) => {
      const above = neighbour(bodyOf(), key, -1)
      if (text.trim() === '') {
        if (above !== null) focus.edit(above, 'end')
        desk.remove(key).catch(complain)
        return
      }
      const caret = above === null ? null : joinAbove(desk, above, text)
      if (above === null || caret === null) return
      focus.edit(above, caret)
      desk.remove(key).catch(complain)
    },
    onDelete: () => {
      const next = neighbour(bodyOf(), key, -1)
      focus.mark(next)
      desk.remove(key).catch(complain)
    },
    onMove: (by) => void moveBlock(room, desk, key, by),
  }
}

/** Puts a text behind what is written in the block above it: where it begins there; null where the two cannot be one. */
export function joinAbove(desk: WritingDesk, above: string, text: string): number | null {
  const { store } = desk
  const state = desk.status(above)?.state
  const before = desk.textOf(above) ?? store.get().content.blocks[store.idOf(above)]?.markdown
  if (above.startsWith(HEADING) || state === 'conflict' || state === 'gone' || before === undefined) return null
  if (shapeOf(before) !== 'text' || shapeOf(text) !== 'text') return null
  desk.write(above, before, `${before} ${text}`)
  return before.length + 1
}

/** One block up or down, after what was written in it is saved. */
export async function moveBlock(
  { store, focus }: DocumentRoom,
  desk: WritingDesk,
  key: string,
  by: -1 | 1,
): Promise<void> {
  await desk.save(key)
  const change = blockMoved(store.get().content, store.idOf(key), by)
  if (change === null) return
  const { editing } = focus.get()
  const box = bodyOf()?.querySelector<HTMLTextAreaElement>('textarea[data-writing]')
  const caret = box?.selectionStart ?? 'end'
  const moved = store.change([change]).catch(refused)
  // Whatever is moved in a page loses the keys: they are given back.
  if (editing) requestAnimationFrame(() => focus.edit(key, caret))
  else leaveByKey(focus, key)
  await moved
  if (!editing) requestAnimationFrame(() => rowOf(bodyOf(), key)?.scrollIntoView({ block: 'nearest' }))
}

/** Says why something was refused; a refusal that names a holder is said in words. */
export function refused(error: Error): void {
  if (error instanceof Conflict && error.code === 'section_locked') say(error.message)
  else complain(error)
}
