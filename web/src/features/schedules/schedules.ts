/** The schedules of a project, loaded again when the project's stream reports a change or one of their runs moves on. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import type { OutlastEvent } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, queryClient } from '@/lib/queries'
import { useFreshOnceLive } from '../shell/active-project'

const BURST_MS = 300

export const schedulesQuery = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['schedules', projectId],
    queryFn: ({ pageParam, signal }) => client.schedules.list(projectId, { before: pageParam, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })

/** The next times of an expression; a refusal is an answer, so it is not asked for again. */
export const timesQuery = (cron: string, zone: string) =>
  queryOptions({
    queryKey: ['schedule-times', cron, zone],
    queryFn: ({ signal }) => client.schedules.times(cron, zone, signal),
    placeholderData: (before) => before,
  })

export const refreshSchedules = (projectId: string): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: ['schedules', projectId] })

/** A burst of changes causes one request. */
export function useScheduleNews(projectId: string): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useFreshOnceLive(['schedules', projectId])
  useEvents(
    useCallback(
      ({ event }: OutlastEvent) => {
        if (event !== 'schedule.changed' && event !== 'thread.updated' && event !== 'thread.deleted') return
        clearTimeout(timer.current)
        timer.current = setTimeout(() => void refreshSchedules(projectId), BURST_MS)
      },
      [projectId],
    ),
  )
}
