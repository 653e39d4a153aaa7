import { BookMarked } from 'lucide-react'
import { lazy } from 'react'
import { Route } from 'wouter'
import type { App } from '@/lib/apps'

const SkillsPage = lazy(() => import('./skills-page'))

export const skills: App = {
  name: 'skills',
  routes: [<Route path="/projects/:id/skills">{({ id }) => <SkillsPage key={id} projectId={id} />}</Route>],
  lists: [{ label: 'Skills', icon: BookMarked, path: 'skills' }],
}
