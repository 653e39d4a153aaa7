import { CircleHelp, Clock, ShieldQuestion, TerminalSquare } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import { Mark } from '@/components/brand'
import { complain } from '@/components/toast'
import { useApps } from '@/lib/apps'
import { client, queryClient } from '@/lib/queries'
import { CreditsChip } from '../account/credits-chip'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { useNewThreadAgent } from './agent-choice'
import { Composer } from './composer'
import { useModelChoice } from './model-choice'
import { bodyOf, keyFor, type Outgoing } from './outgoing-message'
import { threadViewsQuery } from './thread-views'

const SUGGESTIONS: [icon: ReactNode, text: string][] = [
  [<TerminalSquare />, 'Write and run a small program'],
  [<Clock />, 'Run a long job I can walk away from'],
  [<ShieldQuestion />, 'Ask me before deleting something'],
  [<CircleHelp />, 'Ask me a question'],
]

/** The answer components load once the first page is shown. */
export const loadThreadPage = () => import('./thread-page')

const QUIET_MS = 1000

/** The page of a new thread, which begins with its first message. */
export function NewThreadPage({ projectId }: { projectId: string }) {
  const apps = useApps()
  useEffect(() => {
    const load = () => {
      loadThreadPage().catch(() => undefined)
      void queryClient.prefetchQuery(threadViewsQuery(apps))
    }
    const timer = setTimeout(load, QUIET_MS)
    return () => clearTimeout(timer)
  }, [apps])
  const { projectId: active, choose, project } = useActiveProject()
  const { model } = useModelChoice()
  const { agents, agent, choose: chooseAgent } = useNewThreadAgent(projectId)
  const [, navigate] = useLocation()
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'New thread · Outlast'
  }, [])
  const [key] = useState(() => new Map<string, string>())
  const send = async (message: Outgoing) => {
    const profile = agent === null || agent.default ? {} : { profile: agent.name }
    const body = { project_id: projectId, ...profile, ...bodyOf(message) }
    const started = await client.startThread(body, keyFor(key, JSON.stringify(body)))
    navigate(`/threads/${started.thread_id}`)
  }
  const viewer = active === projectId && project?.role === 'viewer'
  return (
    <>
      <PageHeader>
        <span className="flex-1" />
        <CreditsChip />
      </PageHeader>
      <div data-for-writing className="flex min-h-0 flex-1 flex-col overflow-y-auto px-4">
        <div className="mx-auto flex w-full max-w-2xl flex-1 flex-col justify-end pb-4 sm:justify-center sm:pb-[12vh]">
          <div className="mb-7 text-center max-sm:my-auto">
            <Mark className="mx-auto mb-4 size-11" />
            <h1 className="text-2xl font-semibold tracking-tight">What do you want to get done?</h1>
            <p className="mt-1.5 text-muted">
              You can close this page at any time. The work continues and the answer is saved.
            </p>
          </div>
          {viewer ? (
            <p className="text-center text-muted">
              You can read the threads of this project. To start one, ask an owner for the editor role.
            </p>
          ) : (
            <>
              <Composer
                projectId={projectId}
                draftKey={`new.${projectId}`}
                onSend={send}
                agents={{ agents, chosen: agent?.name ?? null, onChoose: chooseAgent }}
                autoFocus
              />
              {agent?.origin !== 'own' && (
                <Suggestions onChoose={(content) => send({ content, images: [], model: model?.id ?? null })} />
              )}
            </>
          )}
        </div>
      </div>
    </>
  )
}

function Suggestions({ onChoose }: { onChoose: (text: string) => Promise<void> }) {
  const [busy, setBusy] = useState(false)
  return (
    <div className="mt-3 grid gap-2 sm:grid-cols-2">
      {SUGGESTIONS.map(([icon, text]) => (
        <button
          key={text}
          disabled={busy}
          className="flex items-center gap-2.5 rounded-xl border border-line px-3.5 py-2.5 text-left text-muted transition-colors hover:border-line-strong hover:bg-hover hover:text-fg disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint"
          onClick={() => {
            setBusy(true)
            onChoose(text)
              .catch(complain)
              .finally(() => setBusy(false))
          }}
        >
          {icon}
          {text}
        </button>
      ))}
    </div>
  )
}
