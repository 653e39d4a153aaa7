/** Requests about schedules, which start agents by the clock: `client.schedules`. */
import type { Page, Schedule, ScheduleChangeRequest, ScheduleRequest, ScheduleTimes, StartedRun } from './api.gen.ts'
import type { ListOptions, OutlastClient } from './client.ts'

export class Schedules {
  constructor(readonly client: OutlastClient) {}

  list = (projectId: string, { signal, ...query }: ListOptions = {}) =>
    this.client.json<Page<Schedule>>('GET', `/v1/projects/${projectId}/schedules`, { query, signal })
  get = (id: string, signal?: AbortSignal) => this.client.json<Schedule>('GET', `/v1/schedules/${id}`, { signal })
  create = (projectId: string, body: ScheduleRequest, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<Schedule>('POST', `/v1/projects/${projectId}/schedules`, {
      body,
      headers: { 'idempotency-key': idempotencyKey },
    })
  change = (id: string, body: ScheduleChangeRequest) =>
    this.client.json<Schedule>('PATCH', `/v1/schedules/${id}`, { body })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/schedules/${id}`)
  /** Starts a run now, as the caller. Repeating the key returns the first response. */
  run = (id: string, idempotencyKey: string = crypto.randomUUID()) =>
    this.client.json<StartedRun>('POST', `/v1/schedules/${id}/run`, { headers: { 'idempotency-key': idempotencyKey } })
  /** The next five times of a cron expression. */
  times = (cron: string, zone: string, signal?: AbortSignal) =>
    this.client.json<ScheduleTimes>('GET', '/v1/schedules/times', { query: { cron, zone }, signal })
  /** Removes the problem of a schedule from the caller's inbox. */
  seen = (id: string) => this.client.json<void>('POST', `/v1/schedules/${id}/seen`)
}
