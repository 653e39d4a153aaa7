/** Requests about webhooks, which send events of a project to other programs: `client.webhooks`. */
import type {
  Delivery,
  NewWebhook,
  Page,
  Replay,
  Webhook,
  WebhookChanges,
  WebhookEvents,
  WebhookRequest,
} from './api.gen.ts'
import type { ListOptions, OutlastClient } from './client.ts'

interface DeliveryQuery extends ListOptions {
  state?: Delivery['state'] | null
}

export class Webhooks {
  constructor(readonly client: OutlastClient) {}

  /** The events that webhooks can take. */
  events = () => this.client.json<WebhookEvents>('GET', '/v1/webhooks/events')
  list = (projectId: string, signal?: AbortSignal) =>
    this.client.json<Page<Webhook>>('GET', `/v1/projects/${projectId}/webhooks`, { signal })
  create = (projectId: string, body: WebhookRequest) =>
    this.client.json<NewWebhook>('POST', `/v1/projects/${projectId}/webhooks`, { body })
  change = (id: string, body: WebhookChanges) => this.client.json<Webhook>('PATCH', `/v1/webhooks/${id}`, { body })
  delete = (id: string) => this.client.json<void>('DELETE', `/v1/webhooks/${id}`)
  rotate = (id: string) => this.client.json<NewWebhook>('POST', `/v1/webhooks/${id}/rotate`)
  test = (id: string) => this.client.json<Delivery>('POST', `/v1/webhooks/${id}/test`)
  deliveries = (id: string, { signal, ...query }: DeliveryQuery = {}) =>
    this.client.json<Page<Delivery>>('GET', `/v1/webhooks/${id}/deliveries`, { query, signal })
  replay = (deliveryId: string) => this.client.json<Delivery>('POST', `/v1/webhook-deliveries/${deliveryId}/replay`)
  replayDead = (id: string) => this.client.json<Replay>('POST', `/v1/webhooks/${id}/replay`)
}
