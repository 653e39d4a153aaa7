import { createContext, useContext, useMemo } from 'react'
import { keyOf, markOf, type PendingElement, type ScreenData } from '@outlast/sdk'
import type { Editing as EditMode } from '@outlast/sdk/react'

export interface Editing {
  screen: ScreenData
  edit: EditMode
  /** The chosen element's pending changes. */
  pending: PendingElement | null
}

export const EditContext = createContext<Editing | null>(null)

export function useEditing(): Editing {
  const editing = useContext(EditContext)
  if (editing === null) throw new Error('useEditing is called outside of the Edit tab')
  return editing
}

/** The chosen element's pending changes, or null if there are none. */
export function usePending(edit: EditMode): PendingElement | null {
  return useMemo(() => {
    const { element, aim, pending } = edit
    const mark = element === null ? null : markOf(element, aim)
    return pending.find((one) => mark !== null && keyOf(one) === keyOf({ aim, mark })) ?? null
  }, [edit])
}

export interface StyleField {
  value: string
  changed: boolean
  set: EditMode['session']['updateStyle']
  reset: () => void
}

/** One CSS property of the chosen element: its pending value, else the value on the page. */
export function useStyle(property: string, shownAs = property): StyleField {
  const { edit, pending } = useEditing()
  const change = pending?.styles[property]
  const computed = edit.element?.styles[shownAs] ?? ''
  const { session } = edit
  return {
    value: change?.value ?? computed,
    changed: change !== undefined,
    set: (name, value, picked) => session.updateStyle(name, value, picked),
    reset: () => session.updateStyle(property, null),
  }
}

/** The classes that the chosen element will have. */
export function useClasses(): string {
  const { edit, pending } = useEditing()
  const picked = Object.values(pending?.styles ?? {}).flatMap((change) => (change.class === null ? [] : [change.class]))
  return [edit.element?.classes ?? '', ...Object.keys(pending?.added ?? {}), ...picked].join(' ')
}
