/** Documentation that agents look things up in. Types as the server sends them, and the requests, as
 * `client.knowledge`. */
import type { OutlastClient } from './client.ts'
import type { Page } from './types.ts'

export type SourceKind = 'markdown' | 'llms_txt' | 'sitemap' | 'package' | 'folder' | 'text' | 'artifact'
export type SourceState = 'waiting' | 'fetching' | 'ready' | 'failed'

/** Where passages come from. `project_id` null: everybody's, from the configuration; nobody changes those here.
 * `error` may stand beside older passages, which stay. `embedded` of `passages` have a vector by now. */
export interface KnowledgeSource {
  id: string
  project_id: string | null
  package: string
  kind: SourceKind
  location: string
  version: string
  state: SourceState
  error: string | null
  passages: number
  embedded: number
  size_bytes: number
  fetched_at: string | null
  checked_at: string | null
  created_at: string
}
/** One piece of a documentation text; `heading` is the way to it, ` › ` between. */
export interface KnowledgePassage {
  id: string
  source_id: string
  package: string
  version: string
  position: number
  heading: string
  text: string
  url: string
}
/** What can be searched in a project under one name. `fetched_at`: its oldest content. */
export interface KnowledgePackage {
  package: string
  versions: string[]
  sources: number
  passages: number
  failed: number
  fetched_at: string | null
}
/** `embedder`: the model whose vectors a search uses; null: it goes by words alone. */
export interface KnowledgePackages extends Page<KnowledgePackage> {
  embedder: string | null
  reranker: boolean
}
/** How a hit came about: `words` (BM25, from 0 upwards), `vectors` (cosine), `reranked` (as the re-ranker says). */
export type HitScores = Partial<Record<'words' | 'vectors' | 'reranked', number>>
/** A passage (`doc`) or an agent's saved code (`module`: `heading` is its path, `usage` an import to copy). `score`
 * (0 to 1) compares hits of one answer only; `terms` are the words of the text that were found. */
export interface KnowledgeHit {
  type: 'doc' | 'module'
  id: string
  heading: string
  text: string
  url: string
  package: string
  version: string
  fetched_at: string | null
  score: number
  scores: HitScores
  terms: string[]
  source_id: string | null
  usage: string
  verified: boolean
}
export type SearchMethod = 'words' | 'words+vectors' | 'words+reranked' | 'words+vectors+reranked'
/** `note`: "" or one sentence on what was not there (no embedder, no such package). */
export interface KnowledgeAnswer {
  items: KnowledgeHit[]
  method: SearchMethod
  note: string
  searched: number
  took_ms: number
}
/** `location` is an address, a path on the server or a package (`npm:…`, `pypi:…`); or the `text` itself, with a `name`. */
export type NewSource = {
  package: string
  project_id?: string
  kind?: SourceKind
} & ({ location: string } | { text: string; name: string })

interface Signalled {
  signal?: AbortSignal | undefined
}

/** The requests about documentation. Without `project_id`, the caller's default project is meant. */
export class Knowledge {
  constructor(readonly client: OutlastClient) {}

  search = (
    q: string,
    { signal, ...query }: Signalled & { project_id?: string; package?: string; limit?: number } = {},
  ) => this.client.json<KnowledgeAnswer>('GET', '/v1/knowledge/search', { query: { q, ...query }, signal })
  packages = (projectId?: string, signal?: AbortSignal) =>
    this.client.json<KnowledgePackages>('GET', '/v1/knowledge/packages', { query: { project_id: projectId }, signal })

  /** The project's own and everybody's. */
  sources = (projectId?: string, signal?: AbortSignal) =>
    this.client.json<Page<KnowledgeSource>>('GET', '/v1/knowledge/sources', {
      query: { project_id: projectId },
      signal,
    })
  /** Fetched in the background: `knowledge.updated` tells how it goes. */
  add = (body: NewSource) => this.client.json<KnowledgeSource>('POST', '/v1/knowledge/sources', { body })
  source = (id: string, signal?: AbortSignal) =>
    this.client.json<KnowledgeSource>('GET', `/v1/knowledge/sources/${id}`, { signal })
  /** Asks for its content again, now; what has not changed is kept. */
  refresh = (id: string) => this.client.json<KnowledgeSource>('POST', `/v1/knowledge/sources/${id}/refresh`)
  remove = (id: string) => this.client.json<void>('DELETE', `/v1/knowledge/sources/${id}`)
  /** In the order of the source; with `next` as `after` the following ones. */
  passages = (id: string, { signal, ...query }: Signalled & { after?: string | number; limit?: number } = {}) =>
    this.client.json<Page<KnowledgePassage>>('GET', `/v1/knowledge/sources/${id}/passages`, { query, signal })
}
