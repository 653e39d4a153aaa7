import { useCallback, useState } from 'react'
import type { OutlastEvent } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'

type Progress = Extract<OutlastEvent, { event: 'snapshot.progress' }>['data']

export interface SnapshotNews {
  kind: 'building' | 'failed'
  text: string
  /** The last line of the step's output, or the reason why it failed. */
  detail: string
}

/** The progress of the snapshot that a sandbox of this project waits for; null if none waits. */
export function useSnapshotNews(projectId: string): [SnapshotNews | null, () => void] {
  const [news, setNews] = useState<SnapshotNews | null>(null)
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'snapshot.progress' && event.id.startsWith(`${projectId}:`))
          setNews(snapshotNews(event.data))
      },
      [projectId],
    ),
  )
  return [news, () => setNews(null)]
}

/** The progress in words. Pure. */
export function snapshotNews({ state, step, output, error, older }: Progress): SnapshotNews | null {
  switch (state) {
    case 'ready':
      return null
    case 'building':
      return {
        kind: 'building',
        text: `Preparing the sandbox: ${step === '' ? 'waiting' : step}…`,
        detail: lastLine(output),
      }
    case 'failed':
      return {
        kind: 'failed',
        text: older
          ? 'The configured packages could not be installed; the sandbox has those of an earlier configuration.'
          : 'The configured packages could not be installed.',
        detail: error ?? '',
      }
  }
}

const lastLine = (output: string): string =>
  output
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .findLast((line) => line !== '') ?? ''
