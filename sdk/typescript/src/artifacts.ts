/** Artifacts: files of a project, whose text is searched. Types as the server sends them, and the requests, as
 * `client.artifacts`. */
import type { OutlastClient } from './client.ts'
import type { Page } from './types.ts'

/** `state`: its text is being read, can be searched (`ready`), or there is none. */
export interface ArtifactData {
  id: string
  project_id: string
  name: string
  media_type: string
  size_bytes: number
  state: 'reading' | 'ready' | 'no_text' | 'failed'
  pages: number | null
  characters: number
  width: number | null
  height: number | null
  /** Why its text could not be read. */
  trouble: string | null
  created_by: string
  created_by_name: string
  created_at: string
}
export interface ArtifactHit {
  artifact_id: string
  name: string
  heading: string
  text: string
  page: number | null
  score: number
}

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
  contentUrl = (id: string) => this.client.url(`/v1/artifacts/${id}/content`)
  /** What was read in it. */
  text = (id: string, signal?: AbortSignal): Promise<string> =>
    this.client.send('GET', `/v1/artifacts/${id}/text`, { signal }).then((one) => one.text())
  search = (projectId: string, q: string, { signal, ...query }: Signalled & { limit?: number } = {}) =>
    this.client.json<{ items: ArtifactHit[] }>('GET', `/v1/projects/${projectId}/artifacts/search`, {
      query: { q, ...query },
      signal,
    })
}
