/** The MCP servers of a project, and their tools. */
import { queryOptions } from '@tanstack/react-query'
import type { McpServer, McpTool, McpTools } from '@outlast/sdk'
import { client, queryClient } from '@/lib/queries'

const WHILE_INSTALLING_MS = 2_000

/** Whether its package is being installed. */
export const isInstalling = ({ package: command, listed_at, problem }: McpServer): boolean =>
  command !== null && listed_at === null && problem === null

export const serversQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['mcp-servers', projectId],
    queryFn: ({ signal }) => client.mcpServers.list(projectId, signal),
    refetchInterval: ({ state }) => (state.data?.items.some(isInstalling) === true ? WHILE_INSTALLING_MS : false),
  })

export const toolsQuery = (serverId: string) =>
  queryOptions({
    queryKey: ['mcp-tools', serverId],
    queryFn: ({ signal }) => client.mcpServers.tools(serverId, signal),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isInstalling(state.data.server) ? WHILE_INSTALLING_MS : false,
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

/** The command of a package (`npx -y @scope/name`), if that is what was typed; otherwise null. */
export const commandIn = (text: string): string | null => (/^(npx|uvx)\s+\S/.test(text.trim()) ? text.trim() : null)

/** A name for a server: the part of its address, or of its package's name, that says most. */
export function nameFor(url: string): string {
  const command = commandIn(url)
  if (command !== null) {
    const name = command.split(/\s+/).find((word, index) => index > 0 && !word.startsWith('-')) ?? ''
    const own = name.replace(/(?!^)(@|==).*$/, '')
    const words =
      own
        .split('/')
        .at(-1)
        ?.split(/[-_.]+/) ?? []
    const named = words.filter((word) => !['mcp', 'server'].includes(word.toLowerCase()))
    return named
      .join('-')
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]|^[^a-z]+/g, '')
      .slice(0, 24)
  }
  const host = /^https?:\/\/([^/:?#]+)/i.exec(url.trim())?.[1] ?? ''
  const parts = host.toLowerCase().split('.')
  const named = parts.slice(0, -1).filter((part) => !['www', 'mcp', 'api'].includes(part))
  return (named.at(-1) ?? parts[0] ?? '')
    .replaceAll(/[^a-z0-9-]/g, '')
    .replace(/^[^a-z]+/, '')
    .slice(0, 24)
}
