/** The MCP servers of a project, and their tools. */
import { queryOptions } from '@tanstack/react-query'
import type { McpTool, McpTools } from '@outlast/sdk'
import { client, queryClient } from '@/lib/queries'

export const serversQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['mcp-servers', projectId],
    queryFn: ({ signal }) => client.mcpServers.list(projectId, signal),
  })

export const toolsQuery = (serverId: string) =>
  queryOptions({
    queryKey: ['mcp-tools', serverId],
    queryFn: ({ signal }) => client.mcpServers.tools(serverId, signal),
  })

/** Show what the server answered, in its dialog and in the list of servers. */
export function keep(answer: McpTools): void {
  queryClient.setQueryData(toolsQuery(answer.server.id).queryKey, answer)
  void reloadServers()
}

export const reloadServers = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['mcp-servers'] })

/** What a call of the tool may do, and whether a person is asked first. */
export function riskOf({ annotations, asks }: McpTool): string {
  if (annotations['readOnlyHint'] === true) return asks ? 'Only reads · asks first' : 'Only reads'
  const risk = annotations['destructiveHint'] === false ? 'May change data' : 'May change or delete data'
  return asks ? `${risk} · asks first` : risk
}

/** The tools that wait to be looked at: their digests by name. */
export const waitingIn = (tools: McpTool[]): Record<string, string> =>
  Object.fromEntries(
    tools.filter(({ state }) => state === 'new' || state === 'changed').map(({ name, digest }) => [name, digest]),
  )

/** A name for a server at an address: the part of its host that says most. */
export function nameFor(url: string): string {
  const host = /^https?:\/\/([^/:?#]+)/i.exec(url.trim())?.[1] ?? ''
  const parts = host.toLowerCase().split('.')
  const named = parts.slice(0, -1).filter((part) => !['www', 'mcp', 'api'].includes(part))
  return (named.at(-1) ?? parts[0] ?? '')
    .replaceAll(/[^a-z0-9-]/g, '')
    .replace(/^[^a-z]+/, '')
    .slice(0, 24)
}
