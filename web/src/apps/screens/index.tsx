import { Frame } from 'lucide-react'
import { lazy } from 'react'
import { Route } from 'wouter'
import { anchorId, type App } from '@/lib/apps'
import { client } from '@/lib/queries'

const CanvasPage = lazy(() => import('./canvas/canvas-page'))

/** One route for both, so that the canvas stays where it is while screens are opened and closed. */
const CANVAS = /^\/(?:projects\/(?<project>[^/]+)\/canvas|screens\/(?<screen>[^/]+))\/?$/

export const screens: App = {
  name: 'screens',
  routes: [
    <Route path={CANVAS}>
      {({ project, screen }) => <CanvasPage projectId={project ?? null} screenId={screen ?? null} />}
    </Route>,
  ],
  lists: [{ label: 'Canvas', icon: Frame, path: 'canvas', items: '/screens/', hasComposer: true }],
  subject: {
    noun: 'screen',
    label: 'Screen',
    icon: Frame,
    idOf: anchorId('screen'),
    href: (id) => `/screens/${id}`,
    forksAre: 'about a copy',
    load: async (id) => {
      const [{ putScreen }, screen] = await Promise.all([import('./canvas/screens'), client.screens.get(id)])
      putScreen(screen)
    },
  },
  threadViews: () => import('./thread-views'),
}
