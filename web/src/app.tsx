import { Children, lazy, Suspense } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import { APPS } from './apps'
import { ErrorBoundary } from './components/error-boundary'
import { Empty, SkeletonRows } from './components/placeholders'
import { JoinPage } from './features/session/join-page'
import { SessionGate, useMe } from './features/session/session-gate'
import { Shell } from './features/shell/shell'
import { loadThreadPage, NewThreadPage } from './features/threads/new-thread-page'
import { SignInPage } from './features/session/sign-in-page'
import { useThemeSync } from './lib/theme'

const ThreadPage = lazy(loadThreadPage)
const FilesPage = lazy(() => import('./features/project-files/files-page'))
const ConnectionsPage = lazy(() => import('./features/connections/connections-page'))
const CallbackPage = lazy(() => import('./features/connections/callback-page'))
const SchedulesPage = lazy(() => import('./features/schedules/schedules-page'))
const WebhooksPage = lazy(() => import('./features/webhooks/webhooks-page'))
const InboxPage = lazy(() => import('./features/inbox/inbox-page'))
const RunsPage = lazy(() => import('./features/runs/runs-page'))
const SandboxesPage = lazy(() => import('./features/sandboxes/sandboxes-page'))
const RunPage = lazy(() => import('./features/runs/run-page'))
const AdministrationPage = lazy(() => import('./features/administration/administration-page'))
const OpenPreviewPage = lazy(() => import('./features/preview/open-preview-page'))

export function App() {
  useThemeSync()
  return (
    <Switch>
      <Route path="/join" component={JoinPage} />
      <Route path="/sign-in" component={SignInPage} />
      <Route path="/connections/callback/:service?">
        <SessionGate>
          <Suspense>
            <CallbackPage />
          </Suspense>
        </SessionGate>
      </Route>
      <Route>
        <SessionGate>
          <Shell>
            <ErrorBoundary>
              <Suspense fallback={<SkeletonRows rows={6} className="mx-auto h-12 max-w-4xl first:mt-16" />}>
                <Pages />
              </Suspense>
            </ErrorBoundary>
          </Shell>
        </SessionGate>
      </Route>
    </Switch>
  )
}

function Pages() {
  const me = useMe()
  return (
    <Switch>
      <Route path="/">
        <Redirect to={`/projects/${localStorage.getItem('outlast.project') ?? me.default_project_id}`} replace />
      </Route>
      <Route path="/projects/:id">{({ id }) => <NewThreadPage key={id} projectId={id} />}</Route>
      <Route path="/projects/:id/files">{({ id }) => <FilesPage key={id} projectId={id} />}</Route>
      <Route path="/projects/:id/connections">{({ id }) => <ConnectionsPage key={id} projectId={id} />}</Route>
      <Route path="/projects/:id/schedules">{({ id }) => <SchedulesPage key={id} projectId={id} />}</Route>
      <Route path="/projects/:id/webhooks">{({ id }) => <WebhooksPage key={id} projectId={id} />}</Route>
      {Children.toArray(APPS.map(({ routes }) => routes))}
      <Route path="/threads/:id">{({ id }) => <ThreadPage key={id} threadId={id} />}</Route>
      <Route path="/inbox" component={InboxPage} />
      <Route path="/runs" component={RunsPage} />
      <Route path="/sandboxes" component={SandboxesPage} />
      <Route path="/administration" component={AdministrationPage} />
      <Route path="/runs/:id">{({ id }) => <RunPage key={id} runId={id} />}</Route>
      <Route path="/previews/:sandbox/:port">
        {({ sandbox, port }) => <OpenPreviewPage key={sandbox} sandboxId={sandbox} port={port} />}
      </Route>
      <Route>
        <Empty
          className="pt-[24vh]"
          title="Page not found"
          action={
            <Link href="/" className="text-link underline">
              Go to the home page
            </Link>
          }
        >
          Check the address. What it points to may have been deleted.
        </Empty>
      </Route>
    </Switch>
  )
}
