import { createContext, useCallback, useContext, useEffect, useState } from 'react'
import { useTab } from '../canvas/screen-sidebar'

/** The view that the Code tab should open. */
export interface CodeRequest {
  view: 'files' | 'changes' | 'history'
  path?: string
  /** From 1. */
  line?: number
  runId?: string
}

const pending = new Map<string, CodeRequest>()
const listeners = new Set<() => void>()

/** Opens the Code tab of the screen next to the conversation; null if there is no screen. */
export const OpenCodeContext = createContext<((request: CodeRequest) => void) | null>(null)

export const useOpenCode = () => useContext(OpenCodeContext)

/** Opens a screen's Code tab at a file, at a run's changes, or at its history. */
export function useCodeTab(screenId: string): (request: CodeRequest) => void {
  const [, setTab] = useTab()
  return useCallback(
    (request: CodeRequest) => {
      pending.set(screenId, request)
      setTab('code')
      for (const listener of [...listeners]) listener()
    },
    [screenId, setTab],
  )
}

/** For the Code tab: calls back once per request, including one that was made before the tab was mounted. */
export function useCodeRequests(screenId: string, onRequest: (request: CodeRequest) => void): void {
  const [handler] = useState(() => ({ onRequest }))
  useEffect(() => {
    handler.onRequest = onRequest
  })
  useEffect(() => {
    const take = () => {
      const request = pending.get(screenId)
      if (request === undefined) return
      pending.delete(screenId)
      handler.onRequest(request)
    }
    take()
    listeners.add(take)
    return () => {
      listeners.delete(take)
    }
  }, [screenId, handler])
}
