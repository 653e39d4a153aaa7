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
/** A passage of a file: `page` of a PDF (null: it has no pages), `terms` the words in it that the query found. */
export interface ArtifactHit {
  artifact: ArtifactData
  heading: string
  text: string
  page: number | null
  score: number
  terms: string[]
}
/** Passages, best first; `note` says in a sentence how the search went, or is empty. */
export interface ArtifactHits {
  items: ArtifactHit[]
  note: string
}
/** A page of a file's text; texts without pages have one. */
export interface ArtifactText {
  artifact: ArtifactData
  text: string
  page: number
  pages: number
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
