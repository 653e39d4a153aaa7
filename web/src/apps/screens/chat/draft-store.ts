/** Text and captured elements that other tabs hand over to a screen's composer. Kept until the Chat tab takes them, so
 * that they are not lost while another tab is shown. */

import type { CapturedElement } from '@/features/threads/captures'

export type { CapturedElement } from '@/features/threads/captures'

export interface Handed {
  text: string
  elements: CapturedElement[]
}

const NOTHING: Handed = { text: '', elements: [] }
const handovers = new Map<string, Handed>()
const listeners = new Set<() => void>()

const change = (screenId: string, next: Handed) => {
  handovers.set(screenId, next)
  for (const listener of [...listeners]) listener()
}

/** Appends text to the screen's message box. */
export function putDraft(screenId: string, text: string): void {
  const now = peekDraft(screenId)
  change(screenId, { ...now, text: now.text === '' ? text : `${now.text}\n\n${text}` })
}

/** Attaches an element to the screen's next message. */
export function putElement(screenId: string, element: CapturedElement): void {
  const now = peekDraft(screenId)
  change(screenId, { ...now, elements: [...now.elements, element] })
}

/** The text and elements that wait for the composer. */
export const peekDraft = (screenId: string): Handed => handovers.get(screenId) ?? NOTHING

/** Returns the text and elements that wait for the composer, and clears them. */
export function takeDraft(screenId: string): Handed {
  const now = peekDraft(screenId)
  if (now !== NOTHING) handovers.delete(screenId)
  return now
}

/** Calls back whenever something was handed over. Returns a function that stops it. */
export function watchDrafts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
