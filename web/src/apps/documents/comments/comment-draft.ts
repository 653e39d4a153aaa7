/** What one is about to comment on, or to ask the agent about. Kept in this browser, so that a reload loses nothing. */
import { useMemo } from 'react'
import type { Quote } from '@outlast/sdk'
import { store, useStored } from '@/lib/stored'

/** A part of a document: all null means all of it. */
export interface About {
  section_id: string | null
  block_id: string | null
  quote: Quote | null
}

export const WHOLE: About = { section_id: null, block_id: null, quote: null }

type What = 'comment' | 'ask'

const keyOf = (what: What, documentId: string) => `outlast.about.${what}.${documentId}`

/** Under which the text that belongs to it is kept. */
export const draftKey = (what: What, documentId: string) => `outlast.draft.${what}.${documentId}`

function read(stored: string): About | null {
  try {
    return stored === '' ? null : { ...WHOLE, ...(JSON.parse(stored) as Partial<About>) }
  } catch {
    return null
  }
}

/** Begins to write about a part; null: gives it up. */
export const setAbout = (what: What, documentId: string, about: About | null): void =>
  store(keyOf(what, documentId), about === null ? '' : JSON.stringify(about))

/** What is being written about; null: nothing. */
export function useAbout(what: What, documentId: string): About | null {
  const [stored] = useStored(keyOf(what, documentId))
  return useMemo(() => read(stored), [stored])
}

/** The quote that is being commented on in one block, the same object while it is the same. */
export function useDraftQuote(documentId: string, blockId: string): Quote | null {
  const [stored] = useStored(keyOf('comment', documentId))
  // Most blocks are not meant: they need not be read for it.
  const mine = stored !== '' && stored.includes(`"${blockId}"`) ? stored : ''
  return useMemo(() => {
    const about = read(mine)
    return about?.block_id === blockId ? about.quote : null
  }, [mine, blockId])
}
