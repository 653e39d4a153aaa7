/** Your accounts on MCP servers and services. */
import type { Account, Page, SignIn, SignInCallbackRequest } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

export class Connections {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, signal?: AbortSignal) =>
    this.client.json<Page<Account>>('GET', `/v1/projects/${projectId}/connections`, { signal })
  /** The address at which a browser signs in, once. */
  begin = (serverId: string) => this.client.json<SignIn>('POST', `/v1/mcp-servers/${serverId}/connection`)
  /** Try your account on a service. */
  test = (serverId: string) => this.client.json<Account>('POST', `/v1/mcp-servers/${serverId}/connection/test`)
  /** Finish with what the browser brought back. */
  finish = (body: SignInCallbackRequest) => this.client.json<Account>('POST', '/v1/connections/callback', { body })
  disconnect = (serverId: string) => this.client.json<void>('DELETE', `/v1/mcp-servers/${serverId}/connection`)
}
