import { BookOpen } from 'lucide-react'
import { lazy } from 'react'
import { Route } from 'wouter'
import type { App } from '@/lib/apps'

const KnowledgePage = lazy(() => import('./knowledge-page'))

export const knowledge: App = {
  name: 'knowledge',
  routes: [<Route path="/projects/:id/knowledge">{({ id }) => <KnowledgePage key={id} projectId={id} />}</Route>],
  lists: [{ label: 'Knowledge', icon: BookOpen, path: 'knowledge' }],
  threadViews: () => import('./thread-views'),
}
