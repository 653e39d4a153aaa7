import { useQuery } from '@tanstack/react-query'
import { Download, Square } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { RunView, WorkflowStep } from '@outlast/sdk'
import { useRun } from '@outlast/sdk/react'
import { Button } from '@/components/button'
import { StatusDot, statusLabel } from '@/components/status-dot'
import { Problem } from '@/components/problem'
import { SkeletonRows } from '@/components/placeholders'
import { Countdown } from '@/components/time'
import { complain } from '@/components/toast'
import { useApps } from '@/lib/apps'
import { count, dollars, duration, fullTime, percent, shownTitle } from '@/lib/format'
import { client, modelsQuery } from '@/lib/queries'
import { PageHeader } from '../shell/shell'
import { Fact } from './fact'
import { Timeline } from './timeline'
import { Workflow } from './workflow'

/** One run for operators: its steps with their durations, its cost and its errors. */
export default function RunPage({ runId }: { runId: string }) {
  const { run, view, connection, isActive, statusText } = useRun(runId)
  useEffect(() => {
    document.title = `Run ${runId} · Outlast`
  }, [runId])
  return (
    <>
      <PageHeader>
        <nav aria-label="Breadcrumb" className="text-[14.5px] font-semibold">
          <Link href="/runs" className="text-muted hover:text-fg">
            Runs
          </Link>
        </nav>
        <span aria-hidden className="mx-1 text-faint">
          /
        </span>
        <h1 className="min-w-0 flex-1 truncate font-mono text-[13px]">{runId}</h1>
        {isActive && view !== null && <Stop runId={runId} />}
        {view !== null && (
          <a href={client.exportUrl(runId)} download>
            <Button size="sm" tabIndex={-1}>
              <Download />
              <span className="max-sm:sr-only">Export</span>
            </Button>
          </a>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-4 py-6 sm:px-6">
          {connection.status === 'failed' && connection.error !== null && <Problem error={connection.error} />}
          {view === null && connection.status !== 'failed' && <SkeletonRows rows={6} className="h-10" />}
          {view !== null && <Details run={view} workflow={run.workflow} statusText={statusText} />}
        </div>
      </div>
    </>
  )
}

function Stop({ runId }: { runId: string }) {
  const [busy, setBusy] = useState(false)
  const stop = () => {
    setBusy(true)
    client
      .cancel(runId)
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return (
    <Button size="sm" busy={busy} onClick={stop}>
      {!busy && <Square />}
      Cancel
    </Button>
  )
}

interface DetailsProps {
  run: RunView
  /** The steps from the stream; the loaded view lags behind. */
  workflow: WorkflowStep[]
  statusText: string
}

function Details({ run, workflow, statusText }: DetailsProps) {
  const { usage } = run
  const apps = useApps()
  const models = useQuery(modelsQuery).data?.items
  const provider = models?.find(({ id }) => id === run.model)?.provider
  return (
    <>
      <div className="flex items-center gap-2.5">
        <StatusDot status={run.status} className="size-3" />
        <p className="text-lg font-semibold">
          {statusLabel(run.status)}
          {statusText !== '' && run.status === 'running' && (
            <span className="font-normal text-muted"> · {statusText}</span>
          )}
        </p>
      </div>
      <p className="mt-1 text-muted">
        In{' '}
        <Link href={`/threads/${run.thread_id}`} className="text-link underline underline-offset-2">
          {shownTitle(run.thread_title)}
        </Link>{' '}
        by {run.started_by_name}, {fullTime(run.created_at)}
        {run.trigger !== null && (
          <>
            {' · '}
            <Link href={`/projects/${run.project_id}/schedules`} className="text-link underline underline-offset-2">
              Started by schedule {run.trigger.title}
            </Link>
          </>
        )}
      </p>
      {run.error !== null && (
        <div role="alert" className="mt-4 rounded-xl border border-danger-line bg-danger-soft px-4 py-3">
          <p className="text-danger">
            <code className="mr-2 font-mono text-xs">{run.error.code}</code>
            {run.error.message}
          </p>
          {run.error.hint !== '' && <p className="mt-1 text-muted">{run.error.hint}</p>}
        </div>
      )}
      {run.problems.length > 0 && (
        <ul className="mt-4 list-disc rounded-xl border border-warn-line bg-warn-soft py-3 pr-4 pl-8 text-warn">
          {run.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <dl className="mt-6 grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-4">
        <Fact name="Duration">{run.duration_s === null ? '–' : duration(run.duration_s)}</Fact>
        <Fact name="Tokens in / out">
          {count(usage.input_tokens)} / {count(usage.output_tokens)}
        </Fact>
        <Fact name="Cost">{usage.cost_usd === null ? '–' : dollars(usage.cost_usd)}</Fact>
        <Fact name="Credits">{count(run.credits)}</Fact>
        <Fact name="Model">{run.model}</Fact>
        <Fact name="Agent">{run.profile}</Fact>
        <Fact name="Attempts">{run.attempt}</Fact>
        <Fact name="Stop reason">{run.stop_reason ?? '–'}</Fact>
        <Fact name="Prompts from cache">{percent(usage.cached_tokens, usage.input_tokens)}</Fact>
        <Fact name="Provider">{provider ?? '–'}</Fact>
        <Fact name="Model turns">{count(run.step_count)}</Fact>
        <Fact name="Tool calls">{count(run.tool_count)}</Fact>
        {apps.map(
          ({ name, RunFacts }) =>
            RunFacts !== undefined && (
              <Suspense key={name}>
                <RunFacts run={run} />
              </Suspense>
            ),
        )}
      </dl>
      {run.clocks.length > 0 && (
        <ul className="mt-4 space-y-1 text-muted">
          {run.clocks.map(({ name, due_at, takes_away }) => (
            <li key={name}>
              <span className="mr-2 font-medium text-fg">
                <Countdown iso={due_at} />
              </span>
              {takes_away}
            </li>
          ))}
        </ul>
      )}
      {workflow.length > 0 && <Workflow steps={workflow} />}
      <h2 className="mt-8 mb-2 font-semibold">Steps</h2>
      <Timeline run={run} />
    </>
  )
}
