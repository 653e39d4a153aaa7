/** Common requests to the agent of a document. Pure. */
import type { Suggestion } from '@/features/threads/suggestion-chips'

export const FIRST_SUGGESTIONS: readonly Suggestion[] = [
  { label: 'Shorten it', text: 'Make the document shorter without losing anything that matters.' },
  { label: 'Fix spelling and grammar', text: 'Correct spelling and grammar; leave the style as it is.' },
  { label: 'What is missing?', text: 'What is missing in this document? Answer, and propose no edits yet.' },
]

/** For a part of the document. */
export const PART_SUGGESTIONS: readonly Suggestion[] = [
  { label: 'Make it shorter', text: 'Make this shorter.' },
  { label: 'Make it clearer', text: 'Make this clearer and simpler.' },
  { label: 'Fix spelling and grammar', text: 'Correct spelling and grammar here.' },
  { label: 'Turn it into a list', text: 'Turn this into a list.' },
]
