import { useEffect, useMemo } from 'react'
import type { OutlastClient } from '../client.ts'
import type { MergeClasses } from '../edit-pending.ts'
import { EditSession, type EditState } from '../edit-session.ts'
import { useClient, useStore } from './context.tsx'

export interface EditModeOptions {
  screenId: string
  /** The frame with the screen's app, once its page has loaded, and the origin of that page. */
  frame: HTMLIFrameElement | null
  origin: string | null
  /** Joins class lists; use tailwind-merge's `twMerge` in production. Must always be the same function. */
  merge?: MergeClasses
}

export interface Editing extends EditState {
  session: EditSession
}

export interface EditMode extends Editing {
  isEditMode: boolean
  selectedElement: EditState['element']
  hoveredElement: string | null
  pendingChanges: EditState['pending']
  enableEditMode: () => void
  disableEditMode: () => void
  updateStyle: EditSession['updateStyle']
  saveChanges: () => Promise<void>
  discardChanges: (key?: string) => void
}

const sessions = new WeakMap<OutlastClient, Map<string, EditSession>>()

function sessionOf(client: OutlastClient, screenId: string): EditSession {
  const known = sessions.get(client) ?? new Map<string, EditSession>()
  sessions.set(client, known)
  const session = known.get(screenId) ?? new EditSession(client, screenId)
  known.set(screenId, session)
  return session
}

/** A screen's session of visual edit mode and its state. Pending changes are kept while no component uses it. */
export function useEditSession({ screenId, frame, origin, merge }: EditModeOptions): Editing {
  const client = useClient()
  const session = useMemo(() => sessionOf(client, screenId), [client, screenId])
  if (merge !== undefined) session.merge = merge
  const state = useStore(session)
  useEffect(() => {
    if (frame !== null && origin !== null) return session.attach(frame, origin)
    return undefined
  }, [session, frame, origin])
  return useMemo(() => ({ ...state, session }), [session, state])
}

/** Visual edit mode of a screen, with the names that components need. */
export function useEditMode(options: EditModeOptions): EditMode {
  const editing = useEditSession(options)
  const hovered = useStore(editing.session.hovered)
  return useMemo(() => {
    const { session } = editing
    return {
      ...editing,
      isEditMode: editing.on,
      selectedElement: editing.element,
      hoveredElement: hovered,
      pendingChanges: editing.pending,
      enableEditMode: () => session.enable(),
      disableEditMode: () => session.disable(),
      updateStyle: (property, value, picked) => session.updateStyle(property, value, picked),
      saveChanges: () => session.save(),
      discardChanges: (key) => session.discard(key),
    }
  }, [editing, hovered])
}
