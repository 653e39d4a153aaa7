import { statusText } from '@outlast/sdk'
import { useThread } from '@outlast/sdk/react'

/** The activity of an open screen's run; follows its thread, as the chat next to the canvas does. */
export function useLiveStatus(threadId: string): string {
  const { activeRun } = useThread(threadId)
  return activeRun === null ? '' : statusText(activeRun)
}
