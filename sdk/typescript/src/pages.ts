/** Pages: live documents that an agent changes by patches. Types as the server sends them, and the requests, as
 * `client.pages`. A list's answer is a `Page` of `types.ts`; a page of this kind is `PageData`. */
import type { OutlastClient } from './client.ts'
import type { Page } from './types.ts'

/** `new`: nothing asked for yet; `waiting`: a run waits for a person; `problems`: the last run left something undone. */
export type PageState = 'new' | 'working' | 'waiting' | 'ready' | 'problems' | 'failed'

/** A page. `html` is there when one page is read, and empty in lists and events; `version` counts its changes. */
export interface PageData {
  id: string
  project_id: string
  thread_id: string
  workspace_id: string
  title: string
  html: string
  version: number
  state: PageState
  active_run_id: string | null
  sandbox_id: string | null
  created_by: string
  created_at: string
  updated_at: string
}

export type PatchOp =
  'text' | 'html' | 'replace' | 'append' | 'prepend' | 'before' | 'after' | 'remove' | 'attributes' | 'classes' | 'move'

/** One change, as the server made it: sanitised, and written as a browser would. `at` is `#id`, or `page`. */
export interface PagePatch {
  op: PatchOp
  at: string
  text: string | null
  html: string | null
  set: Record<string, string> | null
  remove: string[] | null
  add: string[] | null
  to: string | null
  place: 'before' | 'after' | 'prepend' | 'append' | null
}
/** `page.patch`: what turns version `base_version` into `version`. */
export interface PagePatched {
  page_id: string
  base_version: number
  version: number
  patches: PagePatch[]
  run_id: string | null
  step: number | null
}
export type PageHtmlReason = 'created' | 'full' | 'reset' | 'undo' | 'restore' | 'copy'
/** `page.html`: the whole page at `version`, which may be lower than one told before. */
export interface PageHtml {
  page_id: string
  version: number
  html: string
  reason: PageHtmlReason
  run_id: string | null
  step: number | null
  by: string | null
}
/** `page.stats`: what a run made of the page, and what its prompts cost. */
export interface PageStats {
  page_id: string
  version: number
  run_id: string
  patches: number
  replaced: number
  refused: number
  elements: number
  html_bytes: number
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  /** From 0 to 1; null where the provider does not say. */
  cached_share: number | null
  told: Record<string, number | string>
}
/** What a step made of the page, as a part of its answer. */
export interface PagePart {
  type: 'page'
  id: string
  step: number
  page_id: string
  base_version: number
  version: number
  patches: number
  whole: boolean
  refused: number
  summary: string
}

export type ActionState = 'waiting' | 'taken' | 'done' | 'failed' | 'dropped'
export type ActionData = Record<string, unknown>
/** What somebody did on a page: the name of a `data-action`, and the values that came with it. */
export interface PageAction {
  id: string
  page_id: string
  name: string
  data: ActionData
  state: ActionState
  by: string
  by_name: string
  /** The run that takes it up; null: none yet. */
  run_id: string | null
  created_at: string
}
/** `run_id`: the run that takes the action up; while `state` is `waiting` it is queued behind another. */
export interface SentAction {
  action_id: string
  state: ActionState
  run_id: string
  thread_id: string
}

export type VersionKind = 'created' | 'full' | 'patches' | 'undo' | 'restore' | 'copy'
/** One line of a page's history. */
export interface PageVersion {
  page_id: string
  version: number
  base_version: number
  kind: VersionKind
  summary: string
  patches: number
  run_id: string | null
  by: string | null
  created_at: string
}
export interface PageVersionHtml extends PageVersion {
  html: string
}

/** Code that an agent ran for the page, or wrote or looked up for it; newest first. */
export interface PageCode {
  run_id: string
  /** The answer that it is part of; null while the run works. */
  message_id: string | null
  /** The tool call's part. */
  part_id: string
  tool: string
  description: string
  code: string
  language: string
  status: 'streaming' | 'pending' | 'waiting' | 'running' | 'done' | 'error' | 'denied' | 'interrupted' | 'cancelled'
  result: string | null
  duration_s: number | null
  at: string
}

/** Reusable code that an agent saved. Scope `session`: found in its workspace; `user`: published. */
export interface ModuleData {
  id: string
  project_id: string | null
  workspace_id: string | null
  page_id: string | null
  scope: 'session' | 'user'
  path: string
  description: string
  exports: string[]
  usage: string
  /** Its imports worked with the dependencies as they are. */
  verified: boolean
  published_by: string | null
  created_at: string
  updated_at: string
}

/** A link that shows a page, read only, to whoever has it. */
export interface PageLink {
  id: string
  page_id: string
  name: string
  created_by: string
  created_at: string
  /** null: never. */
  expires_at: string | null
}
/** `url` holds the secret, and is shown this once. `frame` is HTML for another site. */
export interface NewPageLink extends PageLink {
  url: string
  frame: string
}

/** A list of actions, newest first, with one of them as it is now. Pure. */
export function withAction(all: readonly PageAction[], action: PageAction): PageAction[] {
  const at = all.findIndex(({ id }) => id === action.id)
  if (at !== -1) return all.with(at, action)
  const later = all.findIndex(({ id }) => id < action.id)
  return later === -1 ? [...all, action] : all.toSpliced(later, 0, action)
}

interface Signalled {
  signal?: AbortSignal | undefined
}
const keyed = (key: string): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': key } })

/** The requests about pages. A prompt in words is a run of the page's thread: `client.startRun(page.thread_id, …)`. */
export class Pages {
  constructor(readonly client: OutlastClient) {}

  /** In the order in which they were made; with `next` as `after` the following ones. */
  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; after?: string } = {}) =>
    this.client.json<Page<PageData>>('GET', `/v1/projects/${projectId}/pages`, { query, signal })
  /** The same key again gives the first answer. */
  create = (
    projectId: string,
    body: { title?: string; html?: string } = {},
    idempotencyKey: string = crypto.randomUUID(),
  ) => this.client.json<PageData>('POST', `/v1/projects/${projectId}/pages`, { body, ...keyed(idempotencyKey) })
  /** With its HTML. */
  get = (id: string, signal?: AbortSignal) => this.client.json<PageData>('GET', `/v1/pages/${id}`, { signal })
  rename = (id: string, title: string) => this.client.json<PageData>('PATCH', `/v1/pages/${id}`, { body: { title } })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/pages/${id}`)
  /** A copy with its HTML, files and conversation. */
  duplicate = (id: string, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<PageData>('POST', `/v1/pages/${id}/duplicate`, keyed(idempotencyKey))

  /** Somebody did something on the page. Nothing runs: a run starts; otherwise the action waits for the next one, with
   * all others that wait. */
  act = (id: string, name: string, data: ActionData = {}, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<SentAction>('POST', `/v1/pages/${id}/actions`, { body: { name, data }, ...keyed(idempotencyKey) })
  /** Newest first. */
  actions = (
    id: string,
    { signal, ...query }: Signalled & { state?: ActionState; limit?: number; before?: string } = {},
  ) => this.client.json<Page<PageAction>>('GET', `/v1/pages/${id}/actions`, { query, signal })
  /** Takes back an action that no run has begun. */
  takeBack = (id: string, actionId: string) => this.client.json<void>('DELETE', `/v1/pages/${id}/actions/${actionId}`)

  /** Newest first; with `next` as `before` the older ones. */
  versions = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: number } = {}) =>
    this.client.json<{ items: PageVersion[]; next: number | null }>('GET', `/v1/pages/${id}/versions`, {
      query,
      signal,
    })
  version = (id: string, version: number, signal?: AbortSignal) =>
    this.client.json<PageVersionHtml>('GET', `/v1/pages/${id}/versions/${version}`, { signal })
  /** Takes back what the last run, or person, made of it. Refused while a run works. */
  undo = (id: string) => this.client.json<PageData>('POST', `/v1/pages/${id}/undo`)
  /** Makes it what it was. Refused while a run works. */
  restore = (id: string, version: number) =>
    this.client.json<PageData>('POST', `/v1/pages/${id}/restore`, { body: { version } })

  /** Code that ran for it, and what came of it; newest first. */
  code = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: string } = {}) =>
    this.client.json<Page<PageCode>>('GET', `/v1/pages/${id}/code`, { query, signal })
  modules = (id: string, signal?: AbortSignal) =>
    this.client.json<Page<ModuleData>>('GET', `/v1/pages/${id}/modules`, { signal })
  /** Those published to the caller. */
  published = (signal?: AbortSignal) =>
    this.client.json<Page<ModuleData>>('GET', '/v1/modules', { query: { scope: 'user' }, signal })
  publish = (moduleId: string) => this.client.json<ModuleData>('POST', `/v1/modules/${moduleId}/publish`)
  deleteModule = (moduleId: string) => this.client.json<void>('DELETE', `/v1/modules/${moduleId}`)

  links = (id: string, signal?: AbortSignal) =>
    this.client.json<Page<PageLink>>('GET', `/v1/pages/${id}/links`, { signal })
  link = (id: string, body: { name?: string; expires_in_days?: number } = {}) =>
    this.client.json<NewPageLink>('POST', `/v1/pages/${id}/links`, { body })
  revokeLink = (id: string, linkId: string) => this.client.json<void>('DELETE', `/v1/pages/${id}/links/${linkId}`)
}
