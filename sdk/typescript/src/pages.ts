/** Pages: live documents that an agent changes by patches: the requests, as `client.pages`. A list's answer
 * is a `Page`; a page of this kind is `PageData`. */
import type {
  ActionData,
  ActionState,
  ModuleData,
  NewPageLink,
  Page,
  PageAction,
  PageCode,
  PageData,
  PageLink,
  PageVersion,
  PageVersionHtml,
  SentAction,
} from './api.gen.ts'
import type { OutlastClient } from './client.ts'

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

  /** Executed code for it, and what came of it; newest first. */
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
