import { createContext, useCallback, useContext, useEffect, useState } from 'react'
import { useTab } from '../canvas/screen-sidebar'

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

/** Opens the Code tab of the screen beside the conversation; null: there is no screen beside it. */
export const OpenCodeContext = createContext<((request: CodeRequest) => void) | null>(null)

export const useOpenCode = () => useContext(OpenCodeContext)

/** Opens a screen's Code tab at a file, at a run's changes, or at its history. */
export function useCodeTab(screenId: string): (request: CodeRequest) => void {
  const [, setTab] = useTab()
  return useCallback(
    (request: CodeRequest) => {
      asked.set(screenId, request)
      setTab('code')
      for (const listener of [...listeners]) listener()
    },
    [screenId, setTab],
  )
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
