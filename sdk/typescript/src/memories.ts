/** Requests about memories, which agents keep for later conversations: `client.memories`. */
import type { MemoryData, MemorySwitches, Page } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

interface MemoryQuery {
  scope?: MemoryData['scope']
  limit?: number
  before?: string
  signal?: AbortSignal | undefined
}

export class Memories {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, { signal, ...query }: MemoryQuery = {}) =>
    this.client.json<Page<MemoryData>>('GET', `/v1/projects/${projectId}/memories`, {
      query: query as Record<string, string | number>,
      signal,
    })
  add = (projectId: string, text: string, scope: 'project' | 'person') =>
    this.client.json<MemoryData>('POST', `/v1/projects/${projectId}/memories`, { body: { text, scope } })
  edit = (id: string, text: string) => this.client.json<MemoryData>('PATCH', `/v1/memories/${id}`, { body: { text } })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/memories/${id}`)
  switches = (projectId: string, signal?: AbortSignal) =>
    this.client.json<MemorySwitches>('GET', `/v1/projects/${projectId}/memory-switches`, { signal })
  turn = (projectId: string, switches: Partial<Pick<MemorySwitches, 'project' | 'person'>>) =>
    this.client.json<MemorySwitches>('PATCH', `/v1/projects/${projectId}/memory-switches`, { body: switches })
}
