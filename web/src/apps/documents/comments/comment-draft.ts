/** Drafts of new comments and questions to the agent. Kept in this browser, so that a reload loses nothing. */
import { useMemo } from 'react'
import type { Quote } from '@outlast/sdk'
import { store, useStored } from '@/lib/local-storage'

/** A part of a document: all null means all of it. */
export interface About {
  section_id: string | null
  block_id: string | null
  quote: Quote | null
}

export const WHOLE: About = { section_id: null, block_id: null, quote: null }

type What = 'comment' | 'ask'

const keyOf = (what: What, documentId: string) => `outlast.about.${what}.${documentId}`

/** The storage key of the draft's text. */
export const draftKey = (what: What, documentId: string) => `outlast.draft.${what}.${documentId}`

function read(stored: string): About | null {
  try {
    return stored === '' ? null : { ...WHOLE, ...(JSON.parse(stored) as Partial<About>) }
  } catch {
    return null
  }
}

/** Starts a draft about a part; null discards it. */
export const setAbout = (what: What, documentId: string, about: About | null): void =>
  store(keyOf(what, documentId), about === null ? '' : JSON.stringify(about))

/** The part that the current draft is about, or null if there is no draft. */
export function useAbout(what: What, documentId: string): About | null {
  const [stored] = useStored(keyOf(what, documentId))
  return useMemo(() => read(stored), [stored])
}

/** The quote of the current draft in one block; the object stays the same while the quote does. */
export function useDraftQuote(documentId: string, blockId: string): Quote | null {
  const [stored] = useStored(keyOf('comment', documentId))
  // Most blocks are not quoted: they need not be parsed for it.
  const mine = stored !== '' && stored.includes(`"${blockId}"`) ? stored : ''
  return useMemo(() => {
    const about = read(mine)
    return about?.block_id === blockId ? about.quote : null
  }, [mine, blockId])
}
