/** Selectors for the review of the open document. */
import { useSyncExternalStore } from 'react'
import type { EditData } from '@outlast/sdk'
import { useDocumentRoom, usePanel } from './document-context'
import { reviewOf, type Review } from './review-state'
import type { ReviewList } from './review-list'

export const useReview = (): Review => reviewOf(useDocumentRoom().store)

export function useReviewed<V>(select: (review: Review) => V): V {
  const review = useReview()
  const get = () => select(review)
  return useSyncExternalStore(review.subscribe, get, get)
}

export const useReviewList = (): ReviewList => useReviewed((review) => review.list())

const NONE: readonly EditData[] = []

/** The open edits that are drawn at a place; the list stays the same object until they change. */
export const useEditsAt = (place: string): readonly EditData[] =>
  useReviewed((review) => review.list().places.get(place) ?? NONE)

/** The open moves whose target is a place. */
export const useArrivals = (place: string): readonly EditData[] =>
  useReviewed((review) => review.list().arrivals.get(place) ?? NONE)

export const useIsCurrent = (editId: string): boolean => useReviewed((review) => review.get().current === editId)

/** True if changes are shown in the text; otherwise only hints are. */
export const useReviewing = (): boolean => usePanel().tab === 'review'
