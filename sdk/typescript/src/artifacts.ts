/** Artifacts: files of a project, whose text is searched. The requests, as
 * `client.artifacts`. */
import type { ArtifactData, ArtifactHits, ArtifactText, Page } from './api.gen.ts'
import type { OutlastClient } from './client.ts'

interface Signalled {
  signal?: AbortSignal | undefined
}

export class Artifacts {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; before?: string } = {}) =>
    this.client.json<Page<ArtifactData>>('GET', `/v1/projects/${projectId}/artifacts`, { query, signal })
  /** Keeps a file; its text is read afterwards: `artifact.updated` tells. `onProgress` hears how much has been sent. */
  upload = (projectId: string, file: File, signal?: AbortSignal, onProgress?: (share: number) => void) =>
    this.client.sendFile<ArtifactData>(`/v1/projects/${projectId}/artifacts`, file, { signal, onProgress })
  get = (id: string, signal?: AbortSignal) => this.client.json<ArtifactData>('GET', `/v1/artifacts/${id}`, { signal })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/artifacts/${id}`)
  /** Where its bytes are: images and PDFs open there, anything else is saved. */
  contentUrl = (id: string, download = false) =>
    this.client.url(`/v1/artifacts/${id}/content`, download ? { download: 'true' } : undefined)
  /** A page of what was read in it. */
  text = (id: string, page = 1, signal?: AbortSignal) =>
    this.client.json<ArtifactText>('GET', `/v1/artifacts/${id}/text`, { query: { page }, signal })
  search = (projectId: string, q: string, { signal, ...query }: Signalled & { limit?: number } = {}) =>
    this.client.json<ArtifactHits>('GET', `/v1/projects/${projectId}/artifacts/search`, {
      query: { q, ...query },
      signal,
    })
}
