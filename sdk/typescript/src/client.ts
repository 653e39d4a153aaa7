/** The HTTP API as methods. One fetch wrapper; every refusal is thrown as an `OutlastError` of the matching class. */
import { Artifacts } from './artifacts.ts'
import { Connections } from './connections.ts'
import { Documents } from './documents.ts'
import { Edits } from './edits.ts'
import { errorOf, unreachable } from './errors.ts'
import { Hooks } from './hooks.ts'
import { Knowledge } from './knowledge.ts'
import { McpServers } from './mcp-servers.ts'
import { Memories } from './memories.ts'
import { Pages } from './pages.ts'
import { Schedules } from './schedules.ts'
import { Screens } from './screens.ts'
import { Secrets } from './secrets.ts'
import { Skills } from './skills.ts'
import { Webhooks } from './webhooks.ts'
import type * as api from './api.gen.ts'
import { tellsProgress, uploadForm } from './uploading.ts'
import { uploadFile, type UploadOptions } from './uploads.ts'

export interface ClientOptions {
  /** The server's base URL; empty for the page's origin. */
  baseUrl?: string
  /** An API token. Without one, the browser's cookie session is used. */
  token?: string
  fetch?: typeof globalThis.fetch
}

export interface RequestOptions {
  body?: unknown
  form?: FormData
  /** The body as it is, instead of JSON. */
  bytes?: Blob
  query?: Record<string, string | number | null | undefined>
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

interface SendFile {
  query?: RequestOptions['query']
  signal?: AbortSignal | undefined
  onProgress?: ((share: number) => void) | undefined
}

export interface ListOptions {
  limit?: number
  before?: string | number | null
  signal?: AbortSignal | undefined
}

export class OutlastClient {
  readonly screens: Screens = new Screens(this)
  readonly edits: Edits = new Edits(this)
  readonly pages: Pages = new Pages(this)
  readonly knowledge: Knowledge = new Knowledge(this)
  readonly memories: Memories = new Memories(this)
  readonly documents: Documents = new Documents(this)
  readonly schedules: Schedules = new Schedules(this)
  readonly artifacts: Artifacts = new Artifacts(this)
  readonly secrets: Secrets = new Secrets(this)
  readonly skills: Skills = new Skills(this)
  readonly mcpServers: McpServers = new McpServers(this)
  readonly connections: Connections = new Connections(this)
  readonly webhooks: Webhooks = new Webhooks(this)
  readonly hooks: Hooks = new Hooks(this)
  readonly #baseUrl: string
  readonly #token: string | undefined
  readonly #fetch: typeof globalThis.fetch
  readonly #listeners = new Set<(event: api.OutlastEvent) => void>()
  readonly #watchers = new Set<(presence: api.Presence) => void>()
  readonly #snapshots = new Set<(noun: 'projects' | 'threads', id: string) => void>()

  constructor({ baseUrl = '', token, fetch }: ClientOptions = {}) {
    this.#baseUrl = baseUrl.replace(/\/$/, '')
    this.#token = token
    this.#fetch = fetch ?? ((...args) => globalThis.fetch(...args))
  }

  /** Calls back for every event of every stream of this client. Returns a function that stops this. */
  listen(listener: (event: api.OutlastEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Publishes an event of a stream to the listeners. */
  announce(event: api.OutlastEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** The same for presence. */
  listenPresence(listener: (presence: api.Presence) => void): () => void {
    this.#watchers.add(listener)
    return () => this.#watchers.delete(listener)
  }

  announcePresence(presence: api.Presence): void {
    for (const listener of this.#watchers) listener(presence)
  }

  /** Calls back when a stream of this client starts after a snapshot: data read before may be out of date. */
  listenSnapshots(listener: (noun: 'projects' | 'threads', id: string) => void): () => void {
    this.#snapshots.add(listener)
    return () => this.#snapshots.delete(listener)
  }

  announceSnapshot(noun: 'projects' | 'threads', id: string): void {
    for (const listener of this.#snapshots) listener(noun, id)
  }

  /** The response of one request. Throws `Unreachable` if there is none, and the matching class for a refusal. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const headers: Record<string, string> = { ...options.headers }
    if (this.#token !== undefined) headers['authorization'] = `Bearer ${this.#token}`
    if (options.body !== undefined) headers['content-type'] = 'application/json'
    if (options.bytes !== undefined) headers['content-type'] = 'application/octet-stream'
    const body = options.form ?? options.bytes ?? (options.body === undefined ? null : JSON.stringify(options.body))
    const init: RequestInit = { method, headers, body, signal: options.signal ?? null, credentials: 'same-origin' }
    const response = await this.#fetch(this.url(path, options.query), init).catch((reason: unknown) => {
      throw options.signal?.aborted === true ? reason : unreachable(reason)
    })
    if (!response.ok) throw await errorOf(response)
    return response
  }

  url(path: string, query: RequestOptions['query'] = {}): string {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
    return `${this.#baseUrl}${path}${search === '' ? '' : `?${search}`}`
  }

  /** The response's JSON, or undefined if it is empty. */
  async json<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
    const response = await this.send(method, path, options)
    return (response.status === 204 ? undefined : await response.json()) as T
  }

  /** Sends a file as a form. `onProgress` gets the share sent, from 0 to 1, if the browser reports it. */
  async sendFile<T>(path: string, file: File, { query, signal, onProgress }: SendFile = {}): Promise<T> {
    const form = new FormData()
    form.append('file', file)
    if (onProgress === undefined || !tellsProgress())
      return this.json<T>('POST', path, { form, ...(query && { query }), signal })
    const headers: Record<string, string> = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    const response = await uploadForm({ url: this.url(path, query), form, headers, signal, onProgress })
    if (!response.ok) throw await errorOf(response)
    return (await response.json()) as T
  }

  #json<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
    return this.json<T>(method, path, options)
  }

  #get<T>(path: string, query?: RequestOptions['query'], signal?: AbortSignal): Promise<T> {
    return this.#json<T>('GET', path, { ...(query && { query }), signal })
  }

  /** Opens an event stream after `cursor`; 204 means that there is nothing more. */
  openEvents(noun: 'runs' | 'threads' | 'projects', id: string, cursor: string, signal: AbortSignal) {
    return this.send('GET', `/v1/${noun}/${id}/events`, {
      query: { after: cursor },
      headers: { accept: 'text/event-stream' },
      signal,
    })
  }

  // --- session and account

  me = (signal?: AbortSignal) => this.#get<api.Me>('/v1/me', {}, signal)
  signIn = (token: string) => this.#json<void>('POST', '/v1/session', { body: { token } })
  signOut = () => this.#json<void>('DELETE', '/v1/session')
  models = () => this.#get<api.Page<api.Model>>('/v1/models')
  credits = () => this.#get<api.Credits>('/v1/credits')
  inbox = (project?: string, { signal, ...query }: ListOptions = {}) =>
    this.#get<api.Page<api.InboxItem>>('/v1/inbox', { project, ...query }, signal)
  tokens = () => this.#get<api.Page<api.Token>>('/v1/tokens')
  createToken = (body: api.TokenRequest) => this.#json<api.NewToken>('POST', '/v1/tokens', { body })
  revokeToken = (id: string) => this.#json<void>('DELETE', `/v1/tokens/${id}`)

  // --- administration of the server

  users = ({ signal, ...query }: { q?: string; after?: string | null; limit?: number; signal?: AbortSignal } = {}) =>
    this.#get<api.Users>('/v1/admin/users', query, signal)
  changeUser = (id: string, body: api.UserChangeRequest) =>
    this.#json<api.UserSummary>('PATCH', `/v1/admin/users/${id}`, { body })
  grantCredits = (id: string, credits: number) =>
    this.#json<api.UserSummary>('POST', `/v1/admin/users/${id}/grants`, { body: { credits } })
  setAside = () => this.#get<api.Page<api.SetAsideItem>>('/v1/admin/set-aside')
  retrySetAside = ({ kind, id }: { kind: string; id: string }) =>
    this.#json<void>('POST', `/v1/admin/set-aside/${kind}/${encodeURIComponent(id)}/retry`)
  deleteSetAside = ({ kind, id }: { kind: string; id: string }) =>
    this.#json<void>('DELETE', `/v1/admin/set-aside/${kind}/${encodeURIComponent(id)}`)

  // --- projects and members

  projects = () => this.#get<api.Page<api.Project>>('/v1/projects')
  project = (id: string, signal?: AbortSignal) => this.#get<api.Project>(`/v1/projects/${id}`, {}, signal)
  createProject = (name: string) => this.#json<api.Project>('POST', '/v1/projects', { body: { name } })
  renameProject = (id: string, name: string) =>
    this.#json<api.Project>('PATCH', `/v1/projects/${id}`, { body: { name } })
  deleteProject = (id: string) => this.#json<void>('DELETE', `/v1/projects/${id}`)
  members = (projectId: string) => this.#get<api.Page<api.ListedMember>>(`/v1/projects/${projectId}/members`)
  changeRole = (projectId: string, userId: string, role: api.Role) =>
    this.#json<api.Member>('PATCH', `/v1/projects/${projectId}/members/${userId}`, { body: { role } })
  removeMember = (projectId: string, userId: string) =>
    this.#json<void>('DELETE', `/v1/projects/${projectId}/members/${userId}`)
  invitations = (projectId: string) => this.#get<api.Page<api.Invitation>>(`/v1/projects/${projectId}/invitations`)
  invite = (projectId: string, body: api.InvitationRequest) =>
    this.#json<api.NewInvitation>('POST', `/v1/projects/${projectId}/invitations`, { body })
  withdrawInvitation = (id: string) => this.#json<void>('DELETE', `/v1/invitations/${id}`)
  acceptInvitation = (token: string, name: string) =>
    this.#json<api.AcceptedInvitation>('POST', '/v1/invitations/accept', {
      body: { token, name },
    })

  // --- threads

  /** `profile` returns only threads of one agent profile, such as `screen`. */
  threads = (
    projectId: string,
    options: ListOptions & { status?: 'open' | 'archived'; q?: string; profile?: string } = {},
  ) => {
    const { signal, ...query } = options
    return this.#get<api.Page<api.ListedThread>>(`/v1/projects/${projectId}/threads`, query, signal)
  }
  createThread = (projectId: string, body: api.ThreadRequest = {}) =>
    this.#json<api.Thread>('POST', `/v1/projects/${projectId}/threads`, { body })
  thread = (id: string, signal?: AbortSignal) => this.#get<api.ThreadView>(`/v1/threads/${id}`, {}, signal)
  renameThread = (id: string, title: string) =>
    this.#json<api.Thread>('PATCH', `/v1/threads/${id}`, { body: { title } })
  /** Chooses the agent of the thread's next messages. */
  chooseAgent = (threadId: string, profile: string) =>
    this.#json<api.Thread>('PUT', `/v1/threads/${threadId}/agent`, { body: { profile } })
  /** The agents of threads; with a project, `usable` says which ones it allows. */
  agents = ({ signal, ...query }: { project?: string; signal?: AbortSignal } = {}) =>
    this.#get<api.AgentList>('/v1/agents', query, signal)
  projectAgents = (projectId: string) => this.#get<api.ProjectAgents>(`/v1/projects/${projectId}/agents`)
  changeProjectAgents = (projectId: string, body: api.ProjectAgentsRequest) =>
    this.#json<api.ProjectAgents>('PUT', `/v1/projects/${projectId}/agents`, { body })
  deleteThread = (id: string) => this.#json<void>('DELETE', `/v1/threads/${id}`)
  messages = (threadId: string, { signal, ...query }: ListOptions = {}) =>
    this.#get<api.Page<api.Message>>(`/v1/threads/${threadId}/messages`, query, signal)
  /** `@agent` in it starts a run (`started_run_id`); members mentioned in it, or by id, get it in their inbox. */
  postMessage = (threadId: string, body: api.MessageRequest, idempotencyKey: string = crypto.randomUUID()) =>
    this.#json<api.PostedMessage>('POST', `/v1/threads/${threadId}/messages`, {
      body,
      headers: { 'idempotency-key': idempotencyKey },
    })
  /** With `summary` the new thread starts with a run (`run_id`) that summarises the old thread, not with its messages.
   * */
  fork = (threadId: string, body: api.ForkRequest = {}, idempotencyKey: string = crypto.randomUUID()) =>
    this.#json<api.ForkedThread>('POST', `/v1/threads/${threadId}/fork`, {
      body,
      headers: { 'idempotency-key': idempotencyKey },
    })
  archive = (threadId: string) => this.#json<api.Thread>('POST', `/v1/threads/${threadId}/archive`)
  unarchive = (threadId: string) => this.#json<api.Thread>('POST', `/v1/threads/${threadId}/unarchive`)
  undoCompaction = (threadId: string, compactionId: string) =>
    this.#json<void>('DELETE', `/v1/threads/${threadId}/compactions/${compactionId}`)
  takeLock = (threadId: string, takeOver = false) =>
    this.#json<api.LockAnswer>('PUT', `/v1/threads/${threadId}/lock`, { body: { take_over: takeOver } })
  releaseLock = (threadId: string) => this.#json<void>('DELETE', `/v1/threads/${threadId}/lock`)
  requestLock = (threadId: string) => this.#json<api.LockAnswer>('POST', `/v1/threads/${threadId}/lock/request`)
  handOverLock = (threadId: string, userId: string) =>
    this.#json<api.LockAnswer>('POST', `/v1/threads/${threadId}/lock/handover`, { body: { user_id: userId } })
  typing = (threadId: string, typing: boolean) =>
    this.#json<void>('POST', `/v1/threads/${threadId}/typing`, { body: { typing } })

  // --- runs

  /** Starts a run and returns at once. Repeating the key returns the first response, so retries are safe. */
  startRun = (threadId: string, body: api.StartRun, idempotencyKey: string) =>
    this.#json<api.StartedRun>('POST', `/v1/threads/${threadId}/runs`, {
      body,
      headers: { 'idempotency-key': idempotencyKey },
    })
  /** Starts a run in a new thread. */
  startThread = (body: api.StartThread, idempotencyKey: string) =>
    this.#json<api.StartedRun>('POST', '/v1/runs', { body, headers: { 'idempotency-key': idempotencyKey } })
  /** Sends a message that the agent reads before its next turn, or one that waits in the queue. */
  steer = (runId: string, body: api.SteerRequest, idempotencyKey: string = crypto.randomUUID()) =>
    this.#json<api.Message>('POST', `/v1/runs/${runId}/steer`, {
      body,
      headers: { 'idempotency-key': idempotencyKey },
    })
  runs = (options: ListOptions & { project?: string; thread?: string; status?: api.RunStatus; q?: string } = {}) => {
    const { signal, ...query } = options
    return this.#get<api.Page<api.RunSummary>>('/v1/runs', query, signal)
  }
  /** The share of prompt tokens from the provider's cache, by provider and model, in the last days (default: 30). */
  cacheShares = (options: { project?: string; days?: number; signal?: AbortSignal } = {}) => {
    const { signal, ...query } = options
    return this.#get<api.Page<api.CacheShare>>('/v1/runs/cached', query, signal)
  }
  run = (id: string, signal?: AbortSignal) => this.#get<api.RunView>(`/v1/runs/${id}`, {}, signal)
  exportUrl = (runId: string) => this.url(`/v1/runs/${runId}/export`)
  cancel = (runId: string) => this.#json<api.RunSummary>('POST', `/v1/runs/${runId}/cancel`)
  retry = (runId: string) => this.#json<api.StartedRun>('POST', `/v1/runs/${runId}/retry`)
  continue = (runId: string) => this.#json<api.StartedRun>('POST', `/v1/runs/${runId}/continue`)
  resume = (runId: string) => this.#json<api.RunSummary>('POST', `/v1/runs/${runId}/resume`)
  approval = (approvalId: string, signal?: AbortSignal) =>
    this.#json<api.DecisionResult>('GET', `/v1/approvals/${approvalId}`, { signal })
  decide = (approvalId: string, body: api.ApprovalDecision) =>
    this.#json<api.DecisionResult>('POST', `/v1/approvals/${approvalId}`, { body })
  answer = (questionId: string, answers: api.Answers) =>
    this.#json<api.DecisionResult>('POST', `/v1/questions/${questionId}`, { body: { answers } })

  // --- sandboxes

  sandboxes = (projectId: string, signal?: AbortSignal) =>
    this.#get<api.Page<api.Sandbox>>(`/v1/projects/${projectId}/sandboxes`, {}, signal)
  sandbox = (id: string, signal?: AbortSignal) => this.#get<api.Sandbox>(`/v1/sandboxes/${id}`, {}, signal)
  sandboxLogs = (id: string, signal?: AbortSignal) =>
    this.#get<api.Page<api.SandboxLog>>(`/v1/sandboxes/${id}/logs`, {}, signal)
  pauseSandbox = (id: string) => this.#json<api.Sandbox>('POST', `/v1/sandboxes/${id}/pause`)
  resumeSandbox = (id: string) => this.#json<api.Sandbox>('POST', `/v1/sandboxes/${id}/resume`)
  killSandbox = (id: string) => this.#json<api.Sandbox>('POST', `/v1/sandboxes/${id}/kill`)

  previewPorts = (sandboxId: string, signal?: AbortSignal) =>
    this.#get<api.Page<api.PreviewPort>>(`/v1/sandboxes/${sandboxId}/ports`, {}, signal)
  /** Opens a port of the sandbox to this browser: `ticket_url` works once, for one minute. */
  openPreview = (sandboxId: string, port: number, path = '/') =>
    this.#json<api.Preview>('POST', `/v1/sandboxes/${sandboxId}/preview`, { body: { port, path } })

  // --- checkpoints

  /** Checkpoints of a thread's files, newest first. */
  checkpoints = (threadId: string, { limit, before, signal }: ListOptions = {}) =>
    this.#get<api.Page<api.Checkpoint>>(`/v1/threads/${threadId}/checkpoints`, { limit, before }, signal)
  checkpoint = (id: string, signal?: AbortSignal) => this.#get<api.CheckpointFiles>(`/v1/checkpoints/${id}`, {}, signal)
  /** Changes from one checkpoint to another; without `to`, the changes of its answer or tool call. */
  checkpointDiff = (id: string, to?: string, signal?: AbortSignal) =>
    this.#get<api.Comparison>(`/v1/checkpoints/${id}/diff`, { to }, signal)
  /** The first 5 MB of a file at a checkpoint. */
  checkpointFile = (id: string, path: string, signal?: AbortSignal): Promise<Blob> =>
    this.send('GET', `/v1/checkpoints/${id}/files/content`, { query: { path }, signal }).then((one) => one.blob())
  restoreCheckpoint = (id: string) => this.#json<api.Checkpoint>('POST', `/v1/checkpoints/${id}/restore`)
  /** Starts with an empty workspace if its files cannot be restored (`workspace_unreadable`). */
  resetWorkspace = (threadId: string) => this.#json<api.Checkpoint>('POST', `/v1/threads/${threadId}/workspace/reset`)

  // --- attachments

  /** Stores a file of any kind, in pieces. With the same `session`, a failed upload is continued. */
  upload = (projectId: string, file: File, options?: UploadOptions): Promise<api.Attachment> =>
    uploadFile(this, projectId, file, options)
  attachmentUrl = (id: string) => this.url(`/v1/attachments/${id}`)
}
