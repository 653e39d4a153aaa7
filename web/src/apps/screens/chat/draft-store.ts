/**
 * What other tabs hand to a screen's composer: words to begin with, and captured elements. Kept until the Chat tab takes
 * them, so that they are not lost while another tab is shown.
 */

import type { CapturedElement } from '@/features/threads/captures'

export type { CapturedElement } from '@/features/threads/captures'

export interface Handed {
  text: string
  elements: CapturedElement[]
}

const NOTHING: Handed = { text: '', elements: [] }
const handed = new Map<string, Handed>()
const listeners = new Set<() => void>()

const change = (screenId: string, next: Handed) => {
  handed.set(screenId, next)
  for (const listener of [...listeners]) listener()
}

/** Puts words into the screen's message box: below what is written there already. */
export function putDraft(screenId: string, text: string): void {
  const now = peekDraft(screenId)
  change(screenId, { ...now, text: now.text === '' ? text : `${now.text}\n\n${text}` })
}

/** Attaches an element to the screen's next message. */
export function putElement(screenId: string, element: CapturedElement): void {
  const now = peekDraft(screenId)
  change(screenId, { ...now, elements: [...now.elements, element] })
}

/** What waits for the composer. */
export const peekDraft = (screenId: string): Handed => handed.get(screenId) ?? NOTHING

/** What waits for the composer; afterwards nothing does. */
export function takeDraft(screenId: string): Handed {
  const now = peekDraft(screenId)
  if (now !== NOTHING) handed.delete(screenId)
  return now
}

/** Calls back whenever something was handed over. Returns how to stop. */
export function watchDrafts(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
