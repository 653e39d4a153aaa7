import { useCallback, useEffect, useState } from 'react'
import { useTab } from '@/apps/screens/canvas/screen-sidebar'

/** What the Code tab is asked to show. */
export interface CodeRequest {
  view: 'files' | 'changes' | 'history'
  path?: string
  /** From 1. */
  line?: number
  runId?: string
}

const asked = new Map<string, CodeRequest>()
const listeners = new Set<() => void>()

/** How to open a screen's Code tab at something; null where there is no screen beside. */
export function useOpenCode(screenId: string | null): ((request: CodeRequest) => void) | null {
  const [, setTab] = useTab()
  const open = useCallback(
    (request: CodeRequest) => {
      if (screenId === null) return
      asked.set(screenId, request)
      setTab('code')
      for (const listener of [...listeners]) listener()
    },
    [screenId, setTab],
  )
  return screenId === null ? null : open
}

/** For the Code tab: hears of each request once, also of one that was made before it was there. */
export function useCodeRequests(screenId: string, onRequest: (request: CodeRequest) => void): void {
  const [hear] = useState(() => ({ onRequest }))
  useEffect(() => {
    hear.onRequest = onRequest
  })
  useEffect(() => {
    const take = () => {
      const request = asked.get(screenId)
      if (request === undefined) return
      asked.delete(screenId)
      hear.onRequest(request)
    }
    take()
    listeners.add(take)
    return () => {
      listeners.delete(take)
    }
  }, [screenId, hear])
}
