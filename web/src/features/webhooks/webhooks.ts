/** The webhooks of a project: outgoing ones with their deliveries, incoming ones with their calls. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Delivery, Hook, Webhook } from '@outlast/sdk'
import type { Tone } from '@/components/tones'
import { client, queryClient } from '@/lib/queries'

const WATCH_MS = 2_000
const QUIET_MS = 15_000

export const webhookEventsQuery = queryOptions({
  queryKey: ['webhook-events'],
  queryFn: client.webhooks.events,
  staleTime: Infinity,
})

export const webhooksQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['webhooks', projectId],
    queryFn: ({ signal }) => client.webhooks.list(projectId, signal),
    refetchInterval: ({ state }) => (state.data?.items.some(({ pending }) => pending > 0) ? WATCH_MS : QUIET_MS),
  })

export type StateFilter = Delivery['state'] | 'all'

export const deliveriesQuery = (webhookId: string, state: StateFilter) =>
  infiniteQueryOptions({
    queryKey: ['webhook-deliveries', webhookId, state],
    queryFn: ({ pageParam, signal }) =>
      client.webhooks.deliveries(webhookId, {
        signal,
        limit: 20,
        state: state === 'all' ? null : state,
        before: pageParam === '' ? null : pageParam,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some((one) => one.state === 'pending')) === true ? WATCH_MS : QUIET_MS,
  })

/** Loads webhooks of both kinds again after a change. */
export async function reload(): Promise<void> {
  await Promise.all(
    ['webhooks', 'webhook-deliveries', 'hooks', 'hook-calls'].map((key) =>
      queryClient.invalidateQueries({ queryKey: [key] }),
    ),
  )
}

/** The title of a webhook, or the host that it sends to. Pure. */
export const nameOf = ({ title, url }: Pick<Webhook, 'title' | 'url'>): string =>
  title !== '' ? title : URL.canParse(url) ? new URL(url).host : url

/** Events by the thing that they are about, in their order. Pure. */
export function byNoun(events: readonly string[]): [noun: string, events: string[]][] {
  const groups = new Map<string, string[]>()
  for (const event of events) {
    const noun = event.split('.', 1)[0] ?? event
    groups.set(noun, [...(groups.get(noun) ?? []), event])
  }
  return [...groups]
}

/** The state of a webhook in words. Pure. */
export function stateOf({ enabled, stopped_because: stopped, dead }: Webhook): [label: string, tone: Tone] {
  if (stopped !== null) return ['Stopped', 'bad']
  if (!enabled) return ['Off', 'quiet']
  return dead > 0 ? ['Failing', 'warn'] : ['On', 'good']
}

export const DELIVERY_STATES: Record<Delivery['state'], [label: string, tone: Tone]> = {
  pending: ['Pending', 'busy'],
  delivered: ['Delivered', 'good'],
  dead: ['Failed', 'bad'],
}

export const hooksQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['hooks', projectId],
    queryFn: ({ signal }) => client.hooks.list(projectId, signal),
  })

export const callsQuery = (hookId: string) =>
  infiniteQueryOptions({
    queryKey: ['hook-calls', hookId],
    queryFn: ({ pageParam, signal }) =>
      client.hooks.calls(hookId, { signal, limit: 20, before: pageParam === '' ? null : pageParam }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: QUIET_MS,
  })

/** The whole address of an incoming webhook. */
export const addressOf = ({ path }: Pick<Hook, 'path'>): string => new URL(path, location.origin).href
