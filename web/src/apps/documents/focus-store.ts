import { useSyncExternalStore } from 'react'
import { useDocumentRoom } from './document-context'
import { HEADING } from './editor/editor-session'

/** The initial position of the caret in an editor: at the start or end of the text, or at an offset. */
export type Caret = 'start' | 'end' | number

interface Focus {
  /** A row: a block's key (`store.keyOf`), or `heading:` and a section's id; null: none. */
  id: string | null
  editing: boolean
  caret: Caret
}

const NOTHING: Focus = { id: null, editing: false, caret: 'end' }

/** The row that has the focus. Kept outside of React's state: a change renders only the two affected rows. */
export class FocusStore {
  #focus: Focus = NOTHING
  readonly #listeners = new Set<() => void>()

  get = (): Focus => this.#focus

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Marks a row without editing it. */
  mark = (id: string | null): void => this.#set({ id, editing: false, caret: 'end' })

  edit = (id: string, caret: Caret = 'end'): void => this.#set({ id, editing: true, caret })

  /** Ends the editing of a row if it is the one being edited; the row keeps the focus. */
  leave = (id: string): void => {
    if (this.#focus.id === id && this.#focus.editing) this.#set({ ...this.#focus, editing: false })
  }

  #set(focus: Focus): void {
    const { id, editing, caret } = this.#focus
    if (id === focus.id && editing === focus.editing && caret === focus.caret) return
    this.#focus = focus
    for (const listener of [...this.#listeners]) listener()
  }
}

/** The id of the block that has the focus or is edited; null: none, a heading, or a block that is not saved yet. */
export function useFocusedBlock(): string | null {
  const { focus, store } = useDocumentRoom()
  return useSyncExternalStore(focus.subscribe, () => {
    const { id } = focus.get()
    if (id === null || id.startsWith(HEADING)) return null
    return store.get().content.blocks[store.idOf(id)]?.id ?? null
  })
}

export const headingKey = (sectionId: string): string => HEADING + sectionId

/** The state of one row; rendered only when it changes. */
export function useFocusOf(key: string): 'edited' | 'marked' | 'none' {
  const { focus } = useDocumentRoom()
  return useSyncExternalStore(focus.subscribe, () => {
    const now = focus.get()
    return now.id !== key ? 'none' : now.editing ? 'edited' : 'marked'
  })
}
