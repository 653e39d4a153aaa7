import { BookOpen, Brain } from 'lucide-react'
import { lazy } from 'react'
import { Route } from 'wouter'
import type { App } from '@/lib/apps'

const KnowledgePage = lazy(() => import('./knowledge-page'))
const MemoriesPage = lazy(() => import('./memories/memories-page'))

export const knowledge: App = {
  name: 'knowledge',
  routes: [
    <Route path="/projects/:id/knowledge">{({ id }) => <KnowledgePage key={id} projectId={id} />}</Route>,
    <Route path="/projects/:id/memories">{({ id }) => <MemoriesPage key={id} projectId={id} />}</Route>,
  ],
  lists: [
    { label: 'Knowledge', icon: BookOpen, path: 'knowledge' },
    { label: 'Memory', icon: Brain, path: 'memories' },
  ],
  threadViews: () => import('./thread-views'),
}
