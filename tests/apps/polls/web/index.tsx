/** The web part of a test app: what an app declares, and nothing of it is known elsewhere. */
import { ListChecks } from 'lucide-react'
import { lazy } from 'react'
import { Route } from 'wouter'
import { anchorId, type App } from '@/lib/apps'

const PollsPage = lazy(() => import('./polls-page'))

export const polls: App = {
  name: 'polls',
  routes: [<Route path="/projects/:id/polls">{({ id }) => <PollsPage key={id} projectId={id} />}</Route>],
  lists: [{ label: 'Polls', icon: ListChecks, path: 'polls' }],
  subject: {
    noun: 'poll',
    label: 'Poll',
    icon: ListChecks,
    idOf: anchorId('poll'),
    href: (_, threadId) => `/threads/${threadId}`,
    forksAre: 'about the same',
  },
  threadViews: () => import('./thread-views'),
  inbox: {
    kinds: {
      poll: {
        group: 'Polls',
        icon: ListChecks,
        tone: 'action',
        title: ({ by_name }) => `${by_name ?? 'An agent'} asks you to vote`,
        actions: [{ label: 'Vote', isPrimary: true }],
      },
    },
    placeOf: ({ kind, project_id, text }) =>
      kind === 'poll' ? { title: text, href: `/projects/${project_id}/polls`, icon: ListChecks } : null,
  },
}
