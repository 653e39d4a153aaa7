/** Requests about documentation that agents search: `client.knowledge`. */
import type {
  KnowledgeAnswer,
  KnowledgePackages,
  KnowledgePassage,
  KnowledgeSource,
  NewSource,
  Page,
} from './api.gen.ts'
import type { OutlastClient } from './client.ts'

interface Signalled {
  signal?: AbortSignal | undefined
}

/** Requests about documentation. Without `project_id`, they use the caller's default project. */
export class Knowledge {
  constructor(readonly client: OutlastClient) {}

  search = (
    q: string,
    { signal, ...query }: Signalled & { project_id?: string; package?: string; limit?: number } = {},
  ) => this.client.json<KnowledgeAnswer>('GET', '/v1/knowledge/search', { query: { q, ...query }, signal })
  packages = (projectId?: string, signal?: AbortSignal) =>
    this.client.json<KnowledgePackages>('GET', '/v1/knowledge/packages', { query: { project_id: projectId }, signal })

  /** Sources of the project and of the whole server. */
  sources = (projectId?: string, signal?: AbortSignal) =>
    this.client.json<Page<KnowledgeSource>>('GET', '/v1/knowledge/sources', {
      query: { project_id: projectId },
      signal,
    })
  /** Fetched in the background; `knowledge.updated` reports the progress. */
  add = (body: NewSource) => this.client.json<KnowledgeSource>('POST', '/v1/knowledge/sources', { body })
  source = (id: string, signal?: AbortSignal) =>
    this.client.json<KnowledgeSource>('GET', `/v1/knowledge/sources/${id}`, { signal })
  /** Fetches its content again now; unchanged parts are kept. */
  refresh = (id: string) => this.client.json<KnowledgeSource>('POST', `/v1/knowledge/sources/${id}/refresh`)
  remove = (id: string) => this.client.json<void>('DELETE', `/v1/knowledge/sources/${id}`)
  /** In the order of the source; pass `next` as `after` for the next page. */
  passages = (id: string, { signal, ...query }: Signalled & { after?: string | number; limit?: number } = {}) =>
    this.client.json<Page<KnowledgePassage>>('GET', `/v1/knowledge/sources/${id}/passages`, { query, signal })
}
