import { useSyncExternalStore } from 'react'
import { useDocumentRoom } from './document-context'

/** Where an editor opens: with the caret at the start or end of the text, or with all of it selected. */
export type Caret = 'start' | 'end' | 'all' | number

export interface Focus {
  /** The block (or `heading:` and a section's id) that is marked; null: none. */
  id: string | null
  editing: boolean
  caret: Caret
}

const NOTHING: Focus = { id: null, editing: false, caret: 'end' }

/** Which block one is at. Kept outside of React's state: a change draws only the two blocks that it concerns. */
export class FocusStore {
  #focus: Focus = NOTHING
  readonly #listeners = new Set<() => void>()

  get = (): Focus => this.#focus

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Marks a block without editing it. */
  mark = (id: string | null): void => this.#set({ id, editing: false, caret: 'end' })

  edit = (id: string, caret: Caret = 'end'): void => this.#set({ id, editing: true, caret })

  /** Ends editing; the block stays marked. `id`: only if it is still this one. */
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

/** The block that is marked or edited now; null: none, or a heading. */
export function useFocusedBlock(): string | null {
  const { focus } = useDocumentRoom()
  return useSyncExternalStore(focus.subscribe, () => {
    const { id } = focus.get()
    return id === null || id.startsWith(HEADING) ? null : id
  })
}

const HEADING = 'heading:'
export const headingKey = (sectionId: string): string => HEADING + sectionId

/** How one block (or heading) stands: drawn anew only when that changes. */
export function useFocusOf(id: string): 'edited' | 'marked' | 'none' {
  const { focus } = useDocumentRoom()
  return useSyncExternalStore(focus.subscribe, () => {
    const now = focus.get()
    return now.id !== id ? 'none' : now.editing ? 'edited' : 'marked'
  })
}
