/** Requests about pages (live HTML that an agent changes by patches): `client.pages`. `PageData` is such a page; `Page`
 * is a page of a list. */
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

/** A list of actions, newest first, with one of them updated. Pure. */
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

/** Requests about pages. To prompt the agent, start a run: `client.startRun(page.thread_id, …)`. */
export class Pages {
  constructor(readonly client: OutlastClient) {}

  /** In the order of creation; pass `next` as `after` for the next page. */
  list = (projectId: string, { signal, ...query }: Signalled & { limit?: number; after?: string } = {}) =>
    this.client.json<Page<PageData>>('GET', `/v1/projects/${projectId}/pages`, { query, signal })
  /** Repeating the key returns the first response. */
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

  /** Reports a user's action on the page. It starts a run if none is active; otherwise it waits for the next run, with
   * all other waiting actions. */
  act = (id: string, name: string, data: ActionData = {}, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<SentAction>('POST', `/v1/pages/${id}/actions`, { body: { name, data }, ...keyed(idempotencyKey) })
  /** Newest first. */
  actions = (
    id: string,
    { signal, ...query }: Signalled & { state?: ActionState; limit?: number; before?: string } = {},
  ) => this.client.json<Page<PageAction>>('GET', `/v1/pages/${id}/actions`, { query, signal })
  /** Withdraws an action that no run has started on. */
  takeBack = (id: string, actionId: string) => this.client.json<void>('DELETE', `/v1/pages/${id}/actions/${actionId}`)

  /** Newest first; pass `next` as `before` for the next page. */
  versions = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: number } = {}) =>
    this.client.json<{ items: PageVersion[]; next: number | null }>('GET', `/v1/pages/${id}/versions`, {
      query,
      signal,
    })
  version = (id: string, version: number, signal?: AbortSignal) =>
    this.client.json<PageVersionHtml>('GET', `/v1/pages/${id}/versions/${version}`, { signal })
  /** Undoes the last change by a run or a user. Refused while a run is active. */
  undo = (id: string) => this.client.json<PageData>('POST', `/v1/pages/${id}/undo`)
  /** Restores an earlier version. Refused while a run is active. */
  restore = (id: string, version: number) =>
    this.client.json<PageData>('POST', `/v1/pages/${id}/restore`, { body: { version } })

  /** Code executed for the page, with its results; newest first. */
  code = (id: string, { signal, ...query }: Signalled & { limit?: number; before?: string } = {}) =>
    this.client.json<Page<PageCode>>('GET', `/v1/pages/${id}/code`, { query, signal })
  modules = (id: string, signal?: AbortSignal) =>
    this.client.json<Page<ModuleData>>('GET', `/v1/pages/${id}/modules`, { signal })
  /** Modules published to the caller. */
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
