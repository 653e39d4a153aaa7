import { useInfiniteQuery } from '@tanstack/react-query'
import { Activity } from 'lucide-react'
import { useDeferredValue, useEffect, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { RunStatus, RunSummary } from '@outlast/sdk'
import { SearchField } from '@/components/search-field'
import { StatusDot, statusLabel } from '@/components/status-dot'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Ago } from '@/components/time'
import { cn } from '@/lib/cn'
import { count, dollars, duration, plural, shownTitle } from '@/lib/format'
import { client } from '@/lib/queries'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { CacheShares } from './cache-shares'
import { useRunNews } from './run-news'
import { MoreButton } from '@/components/more-button'

const STATUSES: RunStatus[] = ['running', 'queued', 'awaiting_approval', 'paused', 'completed', 'error', 'cancelled']

/** Every run of the project, newest first, for operators. */
export default function RunsPage() {
  const { projectId } = useActiveProject()
  const [params, setParams] = useSearchParams()
  const status = (params.get('status') ?? '') as RunStatus | ''
  const thread = params.get('thread') ?? ''
  const [q, setQ] = useState('')
  const wanted = useDeferredValue(q.trim())
  const list = useInfiniteQuery({
    queryKey: ['runs', { projectId, status, thread, q: wanted }],
    queryFn: ({ pageParam, signal }) =>
      client.runs({
        project: projectId,
        ...(status !== '' && { status }),
        ...(thread !== '' && { thread }),
        q: wanted,
        before: pageParam,
        limit: 30,
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: (before) => before,
  })
  useRunNews()
  useEffect(() => {
    document.title = 'Runs · Outlast'
  }, [])
  const choose = (next: RunStatus | '') =>
    setParams((before) => {
      if (next === '') before.delete('status')
      else before.set('status', next)
      return before
    })
  const runs = list.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <>
      <PageHeader>
        <h1 className="flex-1 text-[14.5px] font-semibold">Runs</h1>
        <SearchField label="Search runs" value={q} onChange={setQ} />
      </PageHeader>
      <div className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3 py-2 text-[12.5px] md:px-4">
        <Filter on={status === ''} onClick={() => choose('')}>
          All
        </Filter>
        {STATUSES.map((name) => (
          <Filter key={name} on={status === name} onClick={() => choose(name)}>
            {statusLabel(name)}
          </Filter>
        ))}
        {thread !== '' && (
          <Filter on onClick={() => setParams({})}>
            One thread ✕
          </Filter>
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 py-2 md:px-3">
        {list.error !== null && <Problem className="m-2" error={list.error} retry={() => void list.refetch()} />}
        {list.isPending && <SkeletonRows rows={8} className="mx-2 h-12" />}
        {list.isSuccess && runs.length === 0 && (
          <Empty
            className="pt-[16vh]"
            icon={<Activity />}
            title={status === '' && q === '' ? 'No runs yet' : 'No matching runs'}
          >
            {status === '' && q === ''
              ? 'Each answer of an agent is a run. Start a thread to see its runs here.'
              : 'Choose another status or change your search.'}
          </Empty>
        )}
        <ul>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </ul>
        <MoreButton look="ghost" list={list} />
      </div>
      <CacheShares projectId={projectId} />
    </>
  )
}

function Filter({ on, onClick, children }: { on: boolean; onClick: () => void; children: string | string[] }) {
  return (
    <button
      aria-pressed={on}
      className={cn(
        'rounded-full px-2.5 py-1 whitespace-nowrap',
        on ? 'bg-active font-medium' : 'text-muted hover:text-fg',
      )}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

function RunRow({ run }: { run: RunSummary }) {
  const tokens = run.usage.input_tokens + run.usage.output_tokens
  return (
    <li>
      <Link href={`/runs/${run.id}`} className="flex items-center gap-3 rounded-xl px-2.5 py-2.5 hover:bg-hover">
        <StatusDot status={run.status} className="size-2.5" />
        <span className="min-w-0 flex-1">
          <span className="block truncate">{shownTitle(run.thread_title)}</span>
          <span className="block truncate text-xs text-faint">
            {statusLabel(run.status)}
            {run.stop_reason !== null && run.stop_reason !== 'end' && ` (${run.stop_reason})`} · {run.model} ·{' '}
            {run.trigger === null ? run.started_by_name : `Started by schedule ${run.trigger.title}`}
            {run.error !== null && <span className="text-danger"> · {run.error.message}</span>}
          </span>
        </span>
        <span className="hidden shrink-0 gap-5 text-xs text-muted tabular-nums sm:flex">
          <span className="w-16 text-right">{plural(run.step_count, 'step')}</span>
          <span className="w-20 text-right">{count(tokens)} tok</span>
          <span className="hidden w-14 text-right lg:inline">
            {run.usage.cost_usd === null ? '' : dollars(run.usage.cost_usd)}
          </span>
        </span>
        <span className="w-16 shrink-0 text-right text-xs text-muted tabular-nums">
          {run.duration_s === null ? '' : duration(run.duration_s)}
        </span>
        <Ago iso={run.created_at} className="w-10 shrink-0 text-right text-xs text-faint" />
      </Link>
    </li>
  )
}
