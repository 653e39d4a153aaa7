import type { RunView, Step, Usage } from '@outlast/sdk'
import { count, dollars, duration, fullTime, percent, secondTime } from '@/lib/format'
import { cn } from '@/lib/cn'

const COLOR: Record<Step['kind'], string> = {
  start: 'bg-faint',
  prepare: 'bg-muted',
  model: 'bg-accent',
  tool: 'bg-ok',
  check: 'bg-muted',
  flow: 'bg-accent',
  ask: 'bg-amber',
  compaction: 'bg-muted',
  wait: 'bg-amber',
  settle: 'bg-faint',
}

/** Statuses that need no label. */
const QUIET = new Set(['done', 'finished', 'completed'])

/** Steps on a time axis: its left end is the run's creation, its right end the run's end. */
export function Timeline({ run }: { run: RunView }) {
  const from = Date.parse(run.created_at)
  const ends = run.steps.map(({ ended_at, started_at }) => Date.parse(ended_at ?? started_at ?? run.created_at))
  const until = Math.max(from + 1, run.ended_at === null ? 0 : Date.parse(run.ended_at), ...ends)
  if (run.steps.length === 0) return <p className="text-muted">No steps yet.</p>
  return (
    <ol className="divide-y divide-line rounded-xl border border-line">
      {run.steps.map((step, index) => (
        <li key={`${step.name} ${index}`} className="px-3.5 py-2.5" data-step={step.kind}>
          <div className="flex items-baseline gap-3">
            <span className={cn('size-2 shrink-0 self-center rounded-full', COLOR[step.kind])} title={step.kind} />
            <span className="min-w-0 flex-1 truncate font-medium">
              {step.name}
              {!QUIET.has(step.status) && <span className="font-normal text-muted"> · {step.status}</span>}
              {step.retries > 0 && (
                <span className="font-normal text-warn">
                  {' '}
                  · {step.retries === 1 ? '1 retry' : `${step.retries} retries`}
                </span>
              )}
              {step.attempt > 1 && <span className="font-normal text-faint"> · attempt {step.attempt}</span>}
            </span>
            <span className="hidden shrink-0 text-xs text-muted tabular-nums sm:inline">{money(step)}</span>
            {step.started_at !== null && (
              <time
                className="hidden shrink-0 text-xs text-faint sm:inline"
                dateTime={step.started_at}
                title={fullTime(step.started_at)}
              >
                {secondTime(step.started_at)}
              </time>
            )}
            <span className="w-20 shrink-0 text-right text-xs text-muted tabular-nums">
              {step.duration_s === null ? '' : duration(step.duration_s)}
            </span>
          </div>
          <Bar step={step} from={from} until={until} />
          {step.error !== null && (
            <p className="mt-1.5 pl-5 text-xs [overflow-wrap:anywhere] text-danger">
              {typeof step.error === 'string' ? step.error : `${step.error.code}: ${step.error.message}`}
            </p>
          )}
        </li>
      ))}
    </ol>
  )
}

function money({ usage, cost_usd }: Step): string {
  const tokens = usage === null ? '' : `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out`
  const cached = usage === null || usage.cached_tokens === 0 ? '' : cachedText(usage)
  return [tokens, cached, cost_usd === null ? '' : dollars(cost_usd)].filter((text) => text !== '').join(' · ')
}

const cachedText = ({ cached_tokens, input_tokens }: Usage) => `${percent(cached_tokens, input_tokens)} cached`

function Bar({ step, from, until }: { step: Step; from: number; until: number }) {
  if (step.started_at === null) return null
  const share = (at: number) => `${(Math.min(Math.max((at - from) / (until - from), 0), 1) * 100).toFixed(2)}%`
  const end = step.ended_at === null ? until : Date.parse(step.ended_at)
  const left = share(Date.parse(step.started_at))
  return (
    <div aria-hidden className="mt-2 ml-5 h-1.5 rounded-full bg-active">
      <div
        className={cn('h-full min-w-1 rounded-full', COLOR[step.kind], step.ended_at === null && 'animate-breathe')}
        style={{ marginLeft: `min(${left}, calc(100% - 4px))`, width: `calc(${share(end)} - ${left})` }}
      />
    </div>
  )
}
