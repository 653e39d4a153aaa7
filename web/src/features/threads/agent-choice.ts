import { useQuery } from '@tanstack/react-query'
import type { Agent } from '@outlast/sdk'
import { useStored } from '@/lib/local-storage'
import { agentsQuery } from '@/lib/queries'

const NONE: Agent[] = []

/** The agents of threads in a project, the default first. */
export const useAgents = (projectId: string): Agent[] => useQuery(agentsQuery(projectId)).data?.items ?? NONE

/** The agents, and the one of a new thread: the last choice in this browser if it may be used, else the default. */
export function useNewThreadAgent(projectId: string) {
  const agents = useAgents(projectId)
  const [stored, choose] = useStored('outlast.agent')
  return { agents, agent: agentOf(agents, stored), choose }
}

/** The chosen agent if it may be used, else the first one that may. Pure. */
export const agentOf = (agents: readonly Agent[], chosen: string): Agent | null => {
  const usable = agents.filter((agent) => agent.usable)
  return usable.find(({ name }) => name === chosen) ?? usable[0] ?? null
}

/** The agent of an answer, unless it is the default one or no choice of people. Pure. */
export const namedAgent = (agents: readonly Agent[], profile: string | null): Agent | null =>
  agents.find(({ name, default: usual }) => name === profile && !usual) ?? null
