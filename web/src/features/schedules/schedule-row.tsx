import { MoreHorizontal, Pencil, Play, Trash2, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Schedule } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem } from '@/components/menu'
import { StatusDot, statusLabel } from '@/components/status-dot'
import { Switch } from '@/components/switch'
import { Since } from '@/components/time'
import { complain, offer } from '@/components/toast'
import { cn } from '@/lib/cn'
import { fullTime } from '@/lib/format'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { refreshSchedules } from './schedules'
import { describe, ownZone, timeIn } from './when'

interface ScheduleRowProps {
  schedule: Schedule
  /** The title of its agent. */
  agent: string
  mayChange: boolean
  /** null: this person may not edit it. */
  onEdit: (() => void) | null
}

/** One schedule: when it runs next, how its last run went, its switch and its actions. */
export function ScheduleRow({ schedule, agent, mayChange, onEdit }: ScheduleRowProps) {
  const [asking, setAsking] = useState(false)
  const [, navigate] = useLocation()
  const { id, title, enabled, origin, problem } = schedule
  const refresh = () => refreshSchedules(schedule.project_id)
  const turn = (on: boolean) => void client.schedules.change(id, { enabled: on }).then(refresh, complain)
  const remove = () => void client.schedules.delete(id).then(refresh, complain)
  const run = async () => {
    const started = await once(`run ${id}`, (key) => client.schedules.run(id, key))
    offer(`Started ${title}`, 'Open', () => navigate(`/threads/${started.thread_id}`))
    await refresh()
  }
  return (
    <li data-schedule={id} className="flex items-start gap-3 px-4 py-3.5 sm:gap-4 sm:px-5">
      <span className="pt-0.5">
        <Switch label={`${title} is on`} on={enabled} disabled={!mayChange} onTurn={turn} />
      </span>
      <div className="min-w-0 flex-1">
        <p className={cn('font-medium [overflow-wrap:anywhere]', !enabled && 'text-muted')}>
          {onEdit === null ? (
            title
          ) : (
            <button className="text-left hover:underline" onClick={onEdit}>
              {title}
            </button>
          )}
        </p>
        <p className="mt-0.5 text-muted">
          {describe(schedule.cron)}
          {schedule.zone !== ownZone() && ` (${schedule.zone})`} · {agent}
        </p>
        <p className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-faint">
          <NextTime schedule={schedule} />
          <LastRun schedule={schedule} />
          <span>{origin === 'code' ? 'In the code of the agent' : `By ${schedule.created_by_name}`}</span>
        </p>
        {problem !== null && (
          <p role="alert" className="mt-2 flex gap-2 rounded-lg bg-warn-soft px-2.5 py-2 text-[12.5px]">
            <TriangleAlert className="mt-0.5 size-3.5 shrink-0 text-warn" aria-hidden />
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <span className="text-warn">{problem.message}</span> <span className="text-muted">{problem.hint}</span>
            </span>
          </p>
        )}
      </div>
      {mayChange && (
        <Menu
          align="end"
          trigger={
            <IconButton label={`Actions for ${title}`}>
              <MoreHorizontal />
            </IconButton>
          }
        >
          <MenuItem onSelect={() => void run().catch(complain)}>
            <Play />
            Run now
          </MenuItem>
          {onEdit !== null && (
            <MenuItem onSelect={onEdit}>
              <Pencil />
              Edit
            </MenuItem>
          )}
          {origin === 'person' && (
            <MenuItem danger onSelect={() => setAsking(true)}>
              <Trash2 />
              Delete…
            </MenuItem>
          )}
        </Menu>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete “${title}”?`}
        action="Delete"
        onConfirm={remove}
      >
        It starts no more runs. Its threads and their answers stay. This cannot be undone.
      </Confirm>
    </li>
  )
}

function NextTime({ schedule: { enabled, next_times } }: { schedule: Schedule }) {
  const [next] = next_times
  if (!enabled || next === undefined) return <span>Paused</span>
  return (
    <span>
      Next{' '}
      <time dateTime={next} title={fullTime(next)} className="text-muted tabular-nums">
        {timeIn(next, ownZone())}
      </time>
    </span>
  )
}

const LastRun = ({ schedule: { last_run: run } }: { schedule: Schedule }) =>
  run === null ? (
    <span>No runs yet</span>
  ) : (
    <Link href={`/threads/${run.thread_id}`} className="flex items-center gap-1.5 hover:text-fg hover:underline">
      <StatusDot status={run.status} />
      <span>
        {statusLabel(run.status)}, <Since iso={run.created_at} />
      </span>
    </Link>
  )
