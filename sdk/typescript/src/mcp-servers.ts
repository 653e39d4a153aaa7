/** Requests about MCP servers, whose tools a project's agents may call once they are allowed: `client.mcpServers`. */
import type { McpServer, McpServerRequest, McpTools, Page } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

export class McpServers {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, signal?: AbortSignal) =>
    this.client.json<Page<McpServer>>('GET', `/v1/projects/${projectId}/mcp-servers`, { signal })
  /** `projectId`: null adds it for every project (administrators). */
  add = (projectId: string | null, body: McpServerRequest) =>
    this.client.json<McpTools>(
      'POST',
      projectId === null ? '/v1/admin/mcp-servers' : `/v1/projects/${projectId}/mcp-servers`,
      { body },
    )
  tools = (id: string, signal?: AbortSignal) =>
    this.client.json<McpTools>('GET', `/v1/mcp-servers/${id}/tools`, { signal })
  /** Ask the server for its tools again. */
  /** `projectId`: of a server of agents' code, the project whose saved secrets may be used. */
  refresh = (id: string, projectId?: string) =>
    this.client.json<McpTools>(
      'POST',
      `/v1/mcp-servers/${id}/refresh${projectId === undefined ? '' : `?project_id=${projectId}`}`,
    )
  /** Offer tools to agents: the digests, by name, of what was looked at. */
  allow = (id: string, tools: Record<string, string>) =>
    this.client.json<McpTools>('POST', `/v1/mcp-servers/${id}/allow`, { body: { tools } })
  forbid = (id: string, tools: string[]) =>
    this.client.json<McpTools>('POST', `/v1/mcp-servers/${id}/forbid`, { body: { tools } })
  remove = (id: string) => this.client.json<void>('DELETE', `/v1/mcp-servers/${id}`)
}
