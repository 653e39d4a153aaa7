import type { Approval, ApprovalDecision, Credits, OutlastEvent, StartRun } from '../api.gen.ts'
import { useCallback, useEffect, useState } from 'react'
import { ProjectStore, type ProjectSnapshot } from '../project-store.ts'
import { RunStore, type RunSnapshot } from '../run-store.ts'
import { isTerminal, type RunState } from '../fold.ts'
import { statusText } from '../status.ts'
import { activeRun, ThreadStore, type ThreadSnapshot } from '../thread-store.ts'
import { useClient, useShared, useStore } from './context.tsx'

/** A thread with its messages, lock, live runs and presence, kept up to date. */
export function useThread(threadId: string): ThreadSnapshot & {
  store: ThreadStore
  activeRun: RunState | null
} {
  const store = useShared(`thread ${threadId}`, (client) => new ThreadStore(client, threadId))
  const snapshot = useStore(store)
  return { ...snapshot, store, activeRun: activeRun(snapshot) }
}

/** One run: live parts, pending approval or question, and the operator's view. */
export function useRun(runId: string): RunSnapshot & { store: RunStore; statusText: string; isActive: boolean } {
  const store = useShared(`run ${runId}`, (client) => new RunStore(client, runId))
  const snapshot = useStore(store)
  return { ...snapshot, store, statusText: statusText(snapshot.run), isActive: !isTerminal(snapshot.run.status) }
}

/** A project's name and connection; its events reach `useEvents`. */
export function useProject(projectId: string): ProjectSnapshot {
  return useStore(useShared(`project ${projectId}`, (client) => new ProjectStore(client, projectId)))
}

/** Calls back for every event of every open stream of this page. */
export function useEvents(listener: (event: OutlastEvent) => void): void {
  const client = useClient()
  useEffect(() => client.listen(listener), [client, listener])
}

const MONEY = new Set(['credit.settled', 'credit.low', 'run.queued', 'run.error', 'run.cancelled'])

export interface CreditBalance {
  /** null until loaded. */
  credits: Credits | null
  /** Credits left; null if unlimited, or not loaded yet. */
  remaining: number | null
  /** Credits that the plan grants a month; null if unlimited, or not loaded yet. */
  total: number | null
  isLoading: boolean
  /** True if few credits are left: time for a cheaper model. */
  isLow: boolean
  error: Error | null
  refresh: () => void
}

/** The caller's credits, reloaded whenever a followed run reserves, settles or releases some. */
export function useCreditBalance(): CreditBalance {
  const client = useClient()
  const [credits, setCredits] = useState<Credits | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const refresh = useCallback(() => {
    client.credits().then(
      (loaded) => (setCredits(loaded), setError(null)),
      (reason: Error) => setError(reason),
    )
  }, [client])
  useEffect(refresh, [refresh])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = client.listen((event) => {
      if (!MONEY.has(event.event)) return
      clearTimeout(timer)
      timer = setTimeout(refresh, 200)
    })
    return () => (clearTimeout(timer), stop())
  }, [client, refresh])
  return {
    credits,
    remaining: credits?.balance ?? null,
    total: credits?.allowance ?? null,
    isLoading: credits === null && error === null,
    isLow: credits?.low ?? false,
    error,
    refresh,
  }
}

export interface Generation {
  generation: RunState | null
  isGenerating: boolean
  isPaused: boolean
  pendingApproval: Approval | null
  startGeneration: (content: string, options?: Omit<StartRun, 'content'>) => Promise<void>
  cancelGeneration: () => Promise<void>
  submitApproval: (decision: ApprovalDecision['decision'], more?: Omit<ApprovalDecision, 'decision'>) => Promise<void>
  resumeGeneration: () => Promise<void>
}

/** The current generation of a conversation, with its four actions. */
export function useGeneration(conversationId: string): Generation {
  const client = useClient()
  const { activeRun: run } = useThread(conversationId)
  const pending = run?.pending.find((item) => item.kind === 'approval') ?? null
  return {
    generation: run,
    isGenerating: run !== null && (run.status === 'running' || run.status === 'queued'),
    isPaused: run?.status === 'paused',
    pendingApproval: pending,
    startGeneration: async (content, options) => {
      await client.startRun(conversationId, { content, ...options }, crypto.randomUUID())
    },
    cancelGeneration: async () => {
      if (run !== null) await client.cancel(run.run_id)
    },
    submitApproval: async (decision, more) => {
      if (pending !== null) await client.decide(pending.id, { decision, ...more })
    },
    resumeGeneration: async () => {
      if (run !== null) await client.resume(run.run_id)
    },
  }
}
