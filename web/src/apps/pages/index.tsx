import { LayoutTemplate } from 'lucide-react'
import { lazy } from 'react'
import { Route } from 'wouter'
import { anchorId, type App } from '@/lib/apps'
import { client } from '@/lib/queries'

const PagesPage = lazy(() => import('./pages-page'))
const PageView = lazy(() => import('./page-view'))

export const pages: App = {
  name: 'pages',
  routes: [
    <Route path="/projects/:id/pages">{({ id }) => <PagesPage key={id} projectId={id} />}</Route>,
    <Route path="/pages/:id">{({ id }) => <PageView key={id} pageId={id} />}</Route>,
  ],
  lists: [{ label: 'Pages', icon: LayoutTemplate, path: 'pages', items: '/pages/' }],
  subject: {
    noun: 'page',
    label: 'Page',
    icon: LayoutTemplate,
    idOf: anchorId('page'),
    href: (id) => `/pages/${id}`,
    forksAre: 'about a copy',
    load: async (id) => {
      const [{ putPage }, page] = await Promise.all([import('./pages'), client.pages.get(id)])
      putPage(page)
    },
  },
  threadViews: () => import('./thread-views'),
  RunFacts: lazy(() => import('./run-facts')),
}
