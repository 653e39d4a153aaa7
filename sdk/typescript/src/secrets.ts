/** Requests about saved secrets of sandboxes, whose values are never read back: `client.secrets`. */
import type { NewOwnSecretRequest, NewSecret, Page, Secret, SecretChange, SecretUse } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

export class Secrets {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, signal?: AbortSignal) =>
    this.client.json<Page<Secret>>('GET', `/v1/projects/${projectId}/secrets`, { signal })
  create = (projectId: string, body: NewSecret) =>
    this.client.json<Secret>('POST', `/v1/projects/${projectId}/secrets`, { body })
  /** Save a secret of your own: for the runs that you start, in every project. */
  createOwn = (body: NewOwnSecretRequest) => this.client.json<Secret>('POST', '/v1/me/secrets', { body })
  change = (id: string, body: SecretChange) => this.client.json<Secret>('PATCH', `/v1/secrets/${id}`, { body })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/secrets/${id}`)
  setOwnValue = (id: string, value: string) =>
    this.client.json<Secret>('PUT', `/v1/secrets/${id}/value`, { body: { value } })
  forgetOwnValue = (id: string) => this.client.json<Secret>('DELETE', `/v1/secrets/${id}/value`)
  uses = (projectId: string, query: { limit: number; before?: string }, signal?: AbortSignal) =>
    this.client.json<Page<SecretUse>>('GET', `/v1/projects/${projectId}/secret-uses`, { query, signal })
}
