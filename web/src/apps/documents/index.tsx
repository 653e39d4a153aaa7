import { FileText, GitPullRequestArrow, UserRoundCheck } from 'lucide-react'
import { lazy } from 'react'
import { Route } from 'wouter'
import type { App } from '@/lib/apps'
import { client } from '@/lib/queries'
import { inboxPlace } from './inbox-place'
import { conversationHref, documentIdOf } from './subject'

const DocumentsPage = lazy(() => import('./documents-page'))
const DocumentPage = lazy(() => import('./document-page'))

export const documents: App = {
  name: 'documents',
  routes: [
    <Route path="/projects/:id/documents">{({ id }) => <DocumentsPage key={id} projectId={id} />}</Route>,
    <Route path="/documents/:id">{({ id }) => <DocumentPage key={id} documentId={id} />}</Route>,
  ],
  lists: [{ label: 'Documents', icon: FileText, path: 'documents', items: '/documents/' }],
  subject: {
    noun: 'document',
    label: 'Document',
    icon: FileText,
    idOf: documentIdOf,
    href: conversationHref,
    forksAre: 'about the same',
  },
  threadViews: () => import('./thread-views'),
  inbox: {
    kinds: {
      proposal: {
        group: 'To review',
        icon: GitPullRequestArrow,
        tone: 'news',
        title: () => 'An agent proposes edits',
        actions: [{ label: 'Review', isPrimary: true }],
      },
      assigned: {
        group: 'Assigned to you',
        icon: UserRoundCheck,
        tone: 'news',
        title: ({ by_name }) => `${by_name ?? 'Someone'} assigned a comment to you`,
        actions: [{ label: 'Open' }, { label: 'Mark as read', run: ({ id }) => client.documents.readMention(id) }],
        read: ({ id }) => client.documents.readMention(id),
      },
    },
    placeOf: inboxPlace,
  },
}
