import { useCallback, useRef } from 'react'
import type { OutlastEvent } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { queryClient } from '@/lib/queries'
import { useFreshOnceLive } from '../shell/active-project'

/** Loads the lists of runs again after a change in any thread of the project; a burst of changes causes one request. */
export function useRunNews(): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useFreshOnceLive(['runs'])
  useEvents(
    useCallback(({ event }: OutlastEvent) => {
      if (event !== 'thread.updated' && event !== 'thread.deleted') return
      clearTimeout(timer.current)
      timer.current = setTimeout(() => void queryClient.invalidateQueries({ queryKey: ['runs'] }), 300)
    }, []),
  )
}
