/** Views of apps inside threads, loaded with the first thread that is opened. */
import { queryOptions } from '@tanstack/react-query'
import { createContext, useContext, type ComponentType } from 'react'
import type { Part } from '@outlast/sdk'
import type { AgentView, App, MessageView, ThreadViews } from '@/lib/apps'

/** The views of all apps, joined. */
interface JoinedViews {
  /** By type of part. */
  parts: Readonly<Record<string, ComponentType<{ part: Part }>>>
  /** By name of the agent. */
  agents: Readonly<Record<string, AgentView>>
  messages: readonly MessageView[]
  decidedEachTime: ReadonlySet<string>
}

export const threadViewsQuery = (apps: readonly App[]) =>
  queryOptions({
    queryKey: ['thread-views'],
    queryFn: async () => joinViews(await Promise.all(apps.flatMap(({ threadViews }) => threadViews?.() ?? []))),
    staleTime: Infinity,
    gcTime: Infinity,
    structuralSharing: false,
  })

const joinViews = (views: readonly { default: ThreadViews }[]): JoinedViews => ({
  parts: Object.assign({}, ...views.map((one) => one.default.parts)),
  agents: Object.assign({}, ...views.map((one) => one.default.agents)),
  messages: views.flatMap((one) => one.default.messages ?? []),
  decidedEachTime: new Set(views.flatMap((one) => one.default.decidedEachTime ?? [])),
})

export const ThreadViewsContext = createContext<JoinedViews>(joinViews([]))

export const useThreadViews = (): JoinedViews => useContext(ThreadViewsContext)
