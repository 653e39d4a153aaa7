import { useInfiniteQuery } from '@tanstack/react-query'
import { CalendarClock, Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Schedule } from '@outlast/sdk'
import { Button } from '@/components/button'
import { MoreButton } from '@/components/more-button'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { useMe } from '../session/session-gate'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { useAgents } from '../threads/agent-choice'
import { ScheduleDialog } from './schedule-dialog'
import { ScheduleRow } from './schedule-row'
import { schedulesQuery, useScheduleNews } from './schedules'

/** `/projects/:id/schedules`: agents that start by the clock. */
export default function SchedulesPage({ projectId }: { projectId: string }) {
  const me = useMe()
  const agents = useAgents(projectId)
  const { projectId: active, project, choose } = useActiveProject()
  const list = useInfiniteQuery(schedulesQuery(projectId))
  const [editing, setEditing] = useState<Schedule | 'new' | null>(null)
  useScheduleNews(projectId)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Schedules · Outlast'
  }, [])
  const { data, error, refetch } = list
  const mayChange = active === projectId && project !== null && project.role !== 'viewer'
  const schedules = data?.pages.flatMap(({ items }) => items)
  const isEmpty = schedules !== undefined && schedules.length === 0
  const add = (
    <Button size={isEmpty ? 'md' : 'sm'} look="primary" onClick={() => setEditing('new')}>
      <Plus />
      New schedule
    </Button>
  )
  const mayEdit = ({ origin, created_by }: Schedule) => mayChange && origin === 'person' && created_by === me.user.id
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Schedules</h1>
        <span className="flex-1" />
        {mayChange && !isEmpty && add}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6 sm:py-6">
          {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
          {schedules === undefined && error === null && <SkeletonRows rows={3} className="h-20 rounded-2xl" />}
          {isEmpty && (
            <Empty
              className="pt-[12vh]"
              icon={<CalendarClock />}
              title="No schedules yet"
              action={mayChange ? add : undefined}
            >
              Let an agent work at set times: a summary each morning, a report each Friday, a check each hour.
            </Empty>
          )}
          {schedules !== undefined && !isEmpty && (
            <ul aria-label="Schedules" className="divide-y divide-line rounded-2xl border border-line bg-raised">
              {schedules.map((schedule) => (
                <ScheduleRow
                  key={schedule.id}
                  schedule={schedule}
                  agent={agents.find(({ name }) => name === schedule.agent)?.title ?? schedule.agent}
                  mayChange={mayChange}
                  onEdit={mayEdit(schedule) ? () => setEditing(schedule) : null}
                />
              ))}
            </ul>
          )}
          <MoreButton list={list} />
        </div>
      </div>
      {editing !== null && (
        <ScheduleDialog
          projectId={projectId}
          schedule={editing === 'new' ? null : editing}
          onClose={() => setEditing(null)}
        />
      )}
    </>
  )
}
