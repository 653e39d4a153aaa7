import type { EditData } from '@outlast/sdk'
import { useKeyBindings } from '@/lib/key-bindings'
import { complain, say } from '@/components/toast'
import { useDocumentRoom } from './document-context'
import { EDITABLE } from './review-actions'
import type { Review } from './review-state'

export const REVIEW_KEYS: readonly [keys: string, does: string][] = [
  ['J or ↓', 'Next edit'],
  ['K or ↑', 'Previous edit'],
  ['A', 'Accept'],
  ['E', 'Edit, then accept'],
  ['R', 'Reject'],
  ['Shift A', 'Accept all'],
  ['Z', 'Reopen the last decision'],
  ['Esc', 'Stop editing'],
  ['?', 'Show shortcuts'],
]

interface Does {
  review: Review
  acceptAll: () => void
  help: () => void
}

/** Keyboard shortcuts while the review is open and no text is being edited. */
export function useReviewKeys({ review, acceptAll, help }: Does): void {
  const { mayEdit } = useDocumentRoom()
  const now = () => {
    const edit = review.edit(review.get().current)
    return edit?.state === 'open' && mayEdit ? edit : null
  }
  const press = (what: 'accept' | 'edit' | 'reject') => () => {
    const edit = now()
    // Over selected text, the same letters are shortcuts of the selection bar.
    if (edit === null || document.querySelector('[data-selection-bar]') !== null) return false
    // A key clicks its button, so that both do exactly the same.
    const row = document.querySelector(`[data-review-row="${CSS.escape(edit.id)}"], [data-review-bar]`)
    const button = row?.querySelector<HTMLButtonElement>(`[data-does="${what}"]`)
    if (button !== null && button !== undefined) return void button.click()
    if (what === 'reject') void review.decide(edit, 'reject')
    else if (what === 'accept') review.resolve(edit.id, true)
    else if (EDITABLE.has(edit.op)) review.startEditing(edit.id)
    return true
  }
  const step = (by: 1 | -1) => () => void review.step(by)
  const keys = {
    j: step(1),
    k: step(-1),
    a: press('accept'),
    e: press('edit'),
    r: press('reject'),
    A: () => mayEdit && acceptAll(),
    z: () => void takeBack(review),
    '?': help,
  }
  useKeyBindings(keys, { first: true })
}

export const takeBack = (review: Review): Promise<void> => sayIt(review.undo())

export const reopen = (review: Review, edit: EditData): Promise<void> => sayIt(review.reopen(edit))

async function sayIt(doing: Promise<string>): Promise<void> {
  try {
    const done = await doing
    if (done !== '') say(done)
  } catch (reason) {
    complain(reason instanceof Error ? reason : new Error(String(reason)))
  }
}
