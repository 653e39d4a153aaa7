import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { LivePage, type LivePageState } from '@outlast/sdk'
import { client } from '@/lib/queries'

/** The page and its state, followed while the caller is mounted. */
export function useLivePage(pageId: string): { live: LivePage; state: LivePageState } {
  const live = useMemo(
    () =>
      new LivePage({
        pageId,
        read: (signal) => client.pages.get(pageId, signal),
        listen: (listener) => client.listen(listener),
        listenSnapshots: (listener) => client.listenSnapshots(listener),
      }),
    [pageId],
  )
  useEffect(() => {
    live.start()
    return () => live.stop()
  }, [live])
  return { live, state: useSyncExternalStore(live.subscribe, live.get) }
}
