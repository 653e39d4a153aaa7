/** Requests about screens (apps on a project's canvas): `client.screens`. */
import type {
  Checkpoint,
  ImageHost,
  NewScreen,
  Page,
  Preview,
  ScreenChange,
  ScreenChanges,
  ScreenData,
  ScreenFiles,
  ScreenMove,
  SearchHits,
  Theme,
} from './api.gen.ts'
import type { OutlastClient } from './client.ts'

/** Place and size are CSS pixels of the canvas. */
export type ScreenPlace = Pick<ScreenData, 'x' | 'y' | 'width' | 'height'>

interface Signalled {
  signal?: AbortSignal | undefined
}

/** Requests about screens. To prompt the agent, start a run: `client.startRun(screen.thread_id, …)`. */
export class Screens {
  constructor(readonly client: OutlastClient) {}

  /** In the order of creation; pass `next` as `after` for the next page. */
  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; after?: string } = {}) =>
    this.client.json<Page<ScreenData>>('GET', `/v1/projects/${projectId}/screens`, { query, signal })
  /** Without a place it gets the next free one. Repeating the key returns the first response. */
  create = (projectId: string, body: NewScreen = {}, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<ScreenData>('POST', `/v1/projects/${projectId}/screens`, {
      body,
      headers: { 'idempotency-key': idempotencyKey },
    })
  /** Moves several at once: all or none. */
  move = (projectId: string, items: ScreenMove[]) =>
    this.client.json<Page<ScreenData>>('PATCH', `/v1/projects/${projectId}/screens`, { body: { items } })
  get = (id: string, signal?: AbortSignal) => this.client.json<ScreenData>('GET', `/v1/screens/${id}`, { signal })
  change = (id: string, body: ScreenChange) => this.client.json<ScreenData>('PATCH', `/v1/screens/${id}`, { body })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/screens/${id}`)
  /** A copy with its files, conversation and theme; by default next to the original. */
  duplicate = (id: string, place: { x?: number; y?: number } = {}, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<ScreenData>('POST', `/v1/screens/${id}/duplicate`, {
      body: place,
      headers: { 'idempotency-key': idempotencyKey },
    })
  /** Wakes or creates its sandbox and dev server in the background; events report the progress. */
  open = (id: string) => this.client.json<ScreenData>('POST', `/v1/screens/${id}/open`)
  /** Opens its app to this browser: `ticket_url` works once, for one minute. Creates the sandbox if there is none. */
  preview = (id: string, path = '/') =>
    this.client.json<Preview>('POST', `/v1/screens/${id}/preview`, { body: { path } })
  /** Hosts that it may load images from, and hosts whose images browsers blocked. */
  imageHosts = (id: string, signal?: AbortSignal) =>
    this.client.json<Page<ImageHost>>('GET', `/v1/screens/${id}/image-hosts`, { signal })
  /** Applies to all viewers from their next load. */
  allowImageHost = (id: string, host: string) =>
    this.client.json<Page<ImageHost>>('PUT', `/v1/screens/${id}/image-hosts/${encodeURIComponent(host)}`)
  removeImageHost = (id: string, host: string) =>
    this.client.json<void>('DELETE', `/v1/screens/${id}/image-hosts/${encodeURIComponent(host)}`)

  files = (id: string, signal?: AbortSignal) =>
    this.client.json<ScreenFiles>('GET', `/v1/screens/${id}/files`, { signal })
  /** The first 5 MB of the file. */
  file = (id: string, path: string, signal?: AbortSignal): Promise<Blob> =>
    this.client
      .send('GET', `/v1/screens/${id}/files/content`, { query: { path }, signal })
      .then((response) => response.blob())
  search = (id: string, q: string, { limit, signal }: Signalled & { limit?: number } = {}) =>
    this.client.json<SearchHits>('GET', `/v1/screens/${id}/search`, { query: { q, limit }, signal })
  /** A ZIP that runs elsewhere with `npm install && npm run dev`; for a link's href. */
  archiveUrl = (id: string) => this.client.url(`/v1/screens/${id}/archive`)
  /** Checkpoints, newest first; compare and restore with `client.checkpointDiff`, `restoreCheckpoint`. */
  checkpoints = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: string } = {}) =>
    this.client.json<Page<Checkpoint>>('GET', `/v1/screens/${id}/checkpoints`, { query, signal })
  /** The changes of a run; by default of the last run that changed something. */
  changes = (id: string, run?: string, signal?: AbortSignal) =>
    this.client.json<ScreenChanges>('GET', `/v1/screens/${id}/changes`, { query: { run }, signal })

  themes = (signal?: AbortSignal) => this.client.json<Page<Theme>>('GET', '/v1/themes', { signal })
}
