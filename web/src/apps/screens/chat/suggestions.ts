/** Suggested requests that one click sends. Pure. */
import type { Message, ScreenData } from '@outlast/sdk'
import type { Suggestion } from '@/features/threads/suggestion-chips'

export type SuggestedScreen = 'pricing' | 'landing' | 'dashboard' | 'signIn' | 'kanban' | 'charts'

interface FirstSuggestion extends Suggestion {
  screen: SuggestedScreen
}

const FIRST: readonly FirstSuggestion[] = [
  {
    screen: 'pricing',
    label: 'A pricing page',
    text: 'A pricing page with three plans and a monthly or yearly switch',
  },
  {
    screen: 'landing',
    label: 'A landing page',
    text: 'A landing page for a new product, with a hero, features and a call to action',
  },
  {
    screen: 'dashboard',
    label: 'A dashboard',
    text: 'A dashboard with key figures, a chart and a table of recent orders',
  },
  {
    screen: 'signIn',
    label: 'A sign-in form',
    text: 'A sign-in form with email, password and other ways to sign in',
  },
  { screen: 'kanban', label: 'A kanban board', text: 'A kanban board whose cards can be moved between columns' },
  { screen: 'charts', label: 'A chart page', text: 'A page with charts of the last twelve months' },
]

const NEXT: readonly Suggestion[] = [
  { label: 'Change the accent colour', text: 'Change the accent colour to emerald' },
  { label: 'Add a testimonials section', text: 'Add a section with testimonials' },
  { label: 'Make it more compact', text: 'Make it more compact' },
  { label: 'Add a dark and light switch', text: 'Add a switch between dark and light' },
  { label: 'Better on a phone', text: 'Make it look good on a phone' },
]

const SHOWN_NEXT = 3

/** For a screen without any requests yet. */
export const firstSuggestions = (): readonly FirstSuggestion[] => FIRST

/** After an answer: suggestions that were not requested already; none if the last answer failed. */
export function nextSuggestions(messages: readonly Message[], state: ScreenData['state']): readonly Suggestion[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || last.status !== 'complete' || state === 'problems') return []
  const requested = new Set(messages.filter(({ role }) => role === 'user').map(wordsOf))
  return NEXT.filter(({ text }) => !requested.has(text)).slice(0, SHOWN_NEXT)
}

const wordsOf = ({ parts }: Message): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
