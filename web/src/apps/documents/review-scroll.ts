import { useEffect } from 'react'
import { placeOf } from './review-list'
import { useReview, useReviewed } from './use-review'

/** Scrolls to the current edit in the document. */
export function useCurrentEditInView(): void {
  const review = useReview()
  const current = useReviewed((one) => one.get().current)
  useEffect(() => {
    const edit = review.edit(current)
    if (edit === null) return
    return bring(
      () => document.querySelector(`[data-review-edit="${CSS.escape(edit.id)}"]`),
      () => document.querySelector(selectorOf(placeOf(edit))),
    )
  }, [review, current])
}

const TRIES = 8

/** Scrolls to an element that renders only near the viewport: first to its place, then to the element. */
function bring(find: () => Element | null, near: () => Element | null): () => void {
  let frame = 0
  let tries = 0
  const look = () => {
    const element = find()
    if (element !== null) {
      if (!wholly(element)) element.scrollIntoView({ block: 'center' })
      if (tries >= TRIES) return
      // Content above may still change its height.
      tries = TRIES
    } else if (tries === 0) near()?.scrollIntoView({ block: 'center' })
    if ((tries += 1) > TRIES + 1) return
    frame = requestAnimationFrame(look)
  }
  frame = requestAnimationFrame(look)
  return () => cancelAnimationFrame(frame)
}

function wholly(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  const body = element.closest('[data-document-body]')?.getBoundingClientRect()
  return top >= (body?.top ?? 0) && bottom <= (body?.bottom ?? innerHeight)
}

function selectorOf(place: string): string {
  const [where, id] = place.split(' ')
  if (id !== undefined) return `[data-section-id="${CSS.escape(id)}"]`
  return `[data-block-id="${CSS.escape(where ?? '')}"]`
}
