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
  /** Joins class lists, `twMerge` of tailwind-merge for real work; always the same function. */
  merge?: MergeClasses
}

export interface EditMode extends EditState {
  session: EditSession
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

/** Visual edit mode of a screen. What is pending is kept while no component asks for it. */
export function useEditMode({ screenId, frame, origin, merge }: EditModeOptions): EditMode {
  const client = useClient()
  const session = useMemo(() => sessionOf(client, screenId), [client, screenId])
  if (merge !== undefined) session.merge = merge
  const state = useStore(session)
  useEffect(() => {
    if (frame !== null && origin !== null) return session.attach(frame, origin)
    return undefined
  }, [session, frame, origin])
  return useMemo(
    () => ({
      ...state,
      session,
      isEditMode: state.on,
      selectedElement: state.element,
      hoveredElement: state.hovered,
      pendingChanges: state.pending,
      enableEditMode: () => session.enable(),
      disableEditMode: () => session.disable(),
      updateStyle: (property, value, picked) => session.updateStyle(property, value, picked),
      saveChanges: () => session.save(),
      discardChanges: (key) => session.discard(key),
    }),
    [session, state],
  )
}
