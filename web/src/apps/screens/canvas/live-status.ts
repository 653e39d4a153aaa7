import { statusText } from '@outlast/sdk'
import { useThread } from '@outlast/sdk/react'

/** What the run of an open screen is doing; follows its thread, as the chat beside the canvas does. */
export function useLiveStatus(threadId: string): string {
  const { activeRun } = useThread(threadId)
  return activeRun === null ? '' : statusText(activeRun)
}
