/** Screens: apps on a project's canvas. Types as the server sends them, and the requests, as `client.screens`. */
import type { OutlastClient } from './client.ts'
import type { Checkpoint, Page, Preview } from './types.ts'

/** `new`: nothing asked for yet; `waiting`: a run waits for a person; `problems`: the last run left type errors or a
 * page that throws. */
export type ScreenState = 'new' | 'working' | 'waiting' | 'ready' | 'problems' | 'failed'
export type TemplateName = 'next' | 'vite'

/** CSS values by token name (`background`, `primary`, `chart-1`, `radius`, `font-sans` …). */
export interface ThemeTokens {
  light: Record<string, string>
  dark: Record<string, string>
}
/** A named look. `id` goes into a screen's `theme`. */
export interface Theme extends ThemeTokens {
  id: string
  name: string
  description: string
}
/** A file that the agent spoke of when it had finished, and what it said. */
export interface ScreenFile {
  path: string
  description: string
}
/** Place and size are CSS pixels of the canvas. */
export interface ScreenPlace {
  x: number
  y: number
  width: number
  height: number
}
export interface ScreenData extends ScreenPlace {
  id: string
  project_id: string
  thread_id: string
  workspace_id: string
  title: string
  template: TemplateName
  /** A theme's id, or `custom`: then `theme_tokens` holds it. */
  theme: string
  theme_tokens: ThemeTokens | null
  files: ScreenFile[]
  problems: string[]
  /** The attachment with its last screenshot. */
  picture_id: string | null
  pictured_at: string | null
  state: ScreenState
  active_run_id: string | null
  /** Its newest sandbox, also asleep or gone. */
  sandbox_id: string | null
  /** Where its app is shown, for those whom `client.screens.preview` let in; never in events. */
  preview_url: string | null
  /** Why its sandbox could not be had when it was last opened. */
  trouble: string | null
  created_by: string
  created_at: string
  updated_at: string
}

export interface NewScreen extends Partial<ScreenPlace> {
  title?: string
  template?: TemplateName
  theme?: string
}
export interface ScreenChange extends Partial<ScreenPlace> {
  title?: string
  /** A theme's id; with `custom` give `theme_tokens`. */
  theme?: string
  theme_tokens?: ThemeTokens
}
export interface ScreenMove extends Partial<ScreenPlace> {
  id: string
  x: number
  y: number
}

export interface ScreenFileEntry {
  path: string
  size: number
}
/** `live`: read from the awake sandbox; otherwise as kept in the checkpoint. */
export interface ScreenFiles {
  items: ScreenFileEntry[]
  checkpoint_id: string | null
  live: boolean
  truncated: boolean
}
export interface SearchHit {
  path: string
  /** From 1. */
  line: number
  text: string
}
export interface SearchHits {
  items: SearchHit[]
  truncated: boolean
}
/** `before` and `after` are the texts; null where the file was not there (then its bytes are null too), is no text, or is
 * too long. */
export interface FileChange {
  path: string
  status: 'added' | 'changed' | 'removed'
  before: string | null
  after: string | null
  before_bytes: number | null
  after_bytes: number | null
}
/** What a run changed: from the files as it found them to those it left. */
export interface ScreenChanges {
  run_id: string | null
  before: Checkpoint | null
  after: Checkpoint | null
  items: FileChange[]
  truncated: boolean
}

/** One named step of a run's way, as `workflow.step` brings it. */
export interface WorkflowStep {
  run_id: string
  name:
    | 'load_screen'
    | 'open_sandbox'
    | 'tell_context_lost'
    | 'load_messages'
    | 'agent'
    | 'check'
    | 'preview_url'
    | 'picture'
    | 'save_screen'
    | 'load_page'
    | 'check_page'
    | 'save_page'
    | 'save_answer'
    | 'settle_credits'
    | 'save_error'
  status: 'started' | 'done' | 'failed' | 'skipped' | 'cancelled'
  detail: string
  duration_s: number | null
}

/** A host of other sites' pictures; `allowed_at` null: they were blocked, and nobody has allowed them. */
export interface ImageHost {
  host: string
  asked_at: string
  allowed_by: string | null
  allowed_at: string | null
}

interface Signalled {
  signal?: AbortSignal | undefined
}

/** The requests about screens. Runs are started on the screen's thread: `client.startRun(screen.thread_id, …)`. */
export class Screens {
  constructor(readonly client: OutlastClient) {}

  /** In the order in which they were made; with `next` as `after` the following ones. */
  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; after?: string } = {}) =>
    this.client.json<Page<ScreenData>>('GET', `/v1/projects/${projectId}/screens`, { query, signal })
  /** Without a place it gets the next free one. The same key again gives the first answer. */
  create = (projectId: string, body: NewScreen = {}, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<ScreenData>('POST', `/v1/projects/${projectId}/screens`, {
      body,
      headers: { 'idempotency-key': idempotencyKey },
    })
  /** Several at once, all or none. */
  move = (projectId: string, items: ScreenMove[]) =>
    this.client.json<Page<ScreenData>>('PATCH', `/v1/projects/${projectId}/screens`, { body: { items } })
  get = (id: string, signal?: AbortSignal) => this.client.json<ScreenData>('GET', `/v1/screens/${id}`, { signal })
  change = (id: string, body: ScreenChange) => this.client.json<ScreenData>('PATCH', `/v1/screens/${id}`, { body })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/screens/${id}`)
  /** A copy with its files, conversation and theme; without a place, beside the first. */
  duplicate = (id: string, place: { x?: number; y?: number } = {}, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<ScreenData>('POST', `/v1/screens/${id}/duplicate`, {
      body: place,
      headers: { 'idempotency-key': idempotencyKey },
    })
  /** Wakes or makes its sandbox and dev server in the background; progress comes as events. */
  open = (id: string) => this.client.json<ScreenData>('POST', `/v1/screens/${id}/open`)
  /** Lets this browser see its app: `ticket_url` is good once, within a minute. Makes the sandbox if there is none. */
  preview = (id: string, path = '/') =>
    this.client.json<Preview>('POST', `/v1/screens/${id}/preview`, { body: { path } })
  /** Hosts whose pictures it may load, and those whose pictures browsers blocked. */
  imageHosts = (id: string, signal?: AbortSignal) =>
    this.client.json<Page<ImageHost>>('GET', `/v1/screens/${id}/image-hosts`, { signal })
  /** For everybody who looks at it, from their next load on. */
  allowImageHost = (id: string, host: string) =>
    this.client.json<Page<ImageHost>>('PUT', `/v1/screens/${id}/image-hosts/${encodeURIComponent(host)}`)
  removeImageHost = (id: string, host: string) =>
    this.client.json<void>('DELETE', `/v1/screens/${id}/image-hosts/${encodeURIComponent(host)}`)

  files = (id: string, signal?: AbortSignal) =>
    this.client.json<ScreenFiles>('GET', `/v1/screens/${id}/files`, { signal })
  /** At most its first 5 MB. */
  file = (id: string, path: string, signal?: AbortSignal): Promise<Blob> =>
    this.client
      .send('GET', `/v1/screens/${id}/files/content`, { query: { path }, signal })
      .then((response) => response.blob())
  search = (id: string, q: string, { limit, signal }: Signalled & { limit?: number } = {}) =>
    this.client.json<SearchHits>('GET', `/v1/screens/${id}/search`, { query: { q, limit }, signal })
  /** A ZIP that runs elsewhere with `npm install && npm run dev`; for a link's href. */
  archiveUrl = (id: string) => this.client.url(`/v1/screens/${id}/archive`)
  /** Its files as they were, newest first; compare and restore with `client.checkpointDiff`, `restoreCheckpoint`. */
  checkpoints = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: string } = {}) =>
    this.client.json<Page<Checkpoint>>('GET', `/v1/screens/${id}/checkpoints`, { query, signal })
  /** What a run changed; without one, the last that changed something. */
  changes = (id: string, run?: string, signal?: AbortSignal) =>
    this.client.json<ScreenChanges>('GET', `/v1/screens/${id}/changes`, { query: { run }, signal })

  themes = (signal?: AbortSignal) => this.client.json<Page<Theme>>('GET', '/v1/themes', { signal })
}
