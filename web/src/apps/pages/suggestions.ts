/** Example pages that a click requests. Pure. */
import type { Model } from '@outlast/sdk'

export type SuggestedPage = 'issues' | 'team' | 'chart' | 'todo' | 'counter' | 'survey' | 'plan' | 'board' | 'compare'

interface PageSuggestion {
  page: SuggestedPage
  label: string
  text: string
}

const TODO: PageSuggestion = {
  page: 'todo',
  label: 'A to-do list',
  text: 'A to-do list where I can add, tick off and remove things',
}
const COUNTER: PageSuggestion = {
  page: 'counter',
  label: 'A counter',
  text: 'A counter with buttons to count up, down and reset',
}

/** The requests that the demo model has recordings for. Their calls to the bundled issue tracker are real. */
const DEMO: readonly PageSuggestion[] = [
  { page: 'issues', label: 'My open issues', text: 'Show my open issues' },
  { page: 'chart', label: 'Issues in figures', text: 'A chart of all open issues' },
  { page: 'team', label: 'Harbor’s issues', text: 'Show the issues of Harbor' },
  TODO,
  COUNTER,
]

const FIRST: readonly PageSuggestion[] = [
  TODO,
  {
    page: 'board',
    label: 'A status board',
    text: 'A status board for our services: name, state, last incident, owner',
  },
  {
    page: 'survey',
    label: 'A survey',
    text: 'A short survey for the team’s next offsite, with a form and the answers so far',
  },
  { page: 'plan', label: 'A project plan', text: 'A project plan for the next six weeks, with milestones I can move' },
  { page: 'compare', label: 'A comparison', text: 'A table that compares options by criteria I can weigh and score' },
  COUNTER,
]

export const firstPages = (model: Model | null): readonly PageSuggestion[] => (model?.demo === true ? DEMO : FIRST)
