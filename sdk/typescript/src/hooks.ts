/** Requests about incoming webhooks, at which other programs start runs: `client.hooks`. */
import type { Hook, HookCall, HookChanges, HookRequest, NewHook, Page } from './api.gen.ts'
import type { ListOptions, OutlastClient } from './client.ts'

export class Hooks {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, signal?: AbortSignal) =>
    this.client.json<Page<Hook>>('GET', `/v1/projects/${projectId}/hooks`, { signal })
  create = (projectId: string, body: HookRequest) =>
    this.client.json<NewHook>('POST', `/v1/projects/${projectId}/hooks`, { body })
  change = (id: string, body: HookChanges) => this.client.json<Hook>('PATCH', `/v1/hooks/${id}`, { body })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/hooks/${id}`)
  rotate = (id: string) => this.client.json<NewHook>('POST', `/v1/hooks/${id}/rotate`)
  calls = (id: string, { signal, ...query }: ListOptions = {}) =>
    this.client.json<Page<HookCall>>('GET', `/v1/hooks/${id}/calls`, { query, signal })
}
