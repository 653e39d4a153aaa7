/** Requests about artifacts (files of a project, whose text is searched): `client.artifacts`. */
import type { ArtifactData, ArtifactHits, ArtifactText, Page } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

interface Signalled {
  signal?: AbortSignal | undefined
}

export class Artifacts {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; before?: string } = {}) =>
    this.client.json<Page<ArtifactData>>('GET', `/v1/projects/${projectId}/artifacts`, { query, signal })
  /** Stores a file. Its text is extracted later, reported by `artifact.updated`. `onProgress` gets the share sent. */
  upload = (projectId: string, file: File, signal?: AbortSignal, onProgress?: (share: number) => void) =>
    this.client.sendFile<ArtifactData>(`/v1/projects/${projectId}/artifacts`, file, { signal, onProgress })
  get = (id: string, signal?: AbortSignal) => this.client.json<ArtifactData>('GET', `/v1/artifacts/${id}`, { signal })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/artifacts/${id}`)
  /** The URL of its content: browsers open images and PDFs, and save other files. */
  contentUrl = (id: string, download = false) =>
    this.client.url(`/v1/artifacts/${id}/content`, download ? { download: 'true' } : undefined)
  /** A page of its extracted text. */
  text = (id: string, page = 1, signal?: AbortSignal) =>
    this.client.json<ArtifactText>('GET', `/v1/artifacts/${id}/text`, { query: { page }, signal })
  search = (projectId: string, q: string, { signal, ...query }: Signalled & { limit?: number } = {}) =>
    this.client.json<ArtifactHits>('GET', `/v1/projects/${projectId}/artifacts/search`, {
      query: { q, ...query },
      signal,
    })
}
