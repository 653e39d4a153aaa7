import { useQuery } from '@tanstack/react-query'
import type { Clock, RunState } from '@outlast/sdk'
import { Countdown } from '@/components/time'
import { client } from '@/lib/queries'

/** Short names of timers for a card; the server's own sentence is the tooltip. */
const SHORT: Record<string, string> = {
  approval_pause: 'Sandbox sleeps in',
  paused_kill: 'Sandbox is removed (files stay) in',
}

/** The next timer that expires while the run waits, as a countdown. */
export function ClockNote({ run, className }: { run: Pick<RunState, 'run_id' | 'status'>; className?: string }) {
  const { data } = useQuery({
    queryKey: ['clocks', run.run_id, run.status],
    queryFn: async ({ signal }) => (await client.run(run.run_id, signal)).clocks,
    enabled: run.status === 'awaiting_approval' || run.status === 'paused',
  })
  const next = soonest(data ?? [])
  if (next === null) return null
  return (
    <span className={className} title={next.takes_away} data-clock={next.name}>
      {SHORT[next.name]} <Countdown iso={next.due_at} />
    </span>
  )
}

const soonest = (clocks: Clock[]): Clock | null =>
  clocks
    .filter(({ name, due_at }) => name in SHORT && Date.parse(due_at) > Date.now())
    .toSorted((a, b) => Date.parse(a.due_at) - Date.parse(b.due_at))[0] ?? null
