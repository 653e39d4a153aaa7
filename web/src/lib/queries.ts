/** All data that is loaded rather than streamed, with its query keys. */
import { QueryClient, queryOptions, type QueryKey } from '@tanstack/react-query'
import { OutlastClient, OutlastError, TryLater } from '@outlast/sdk'

export const client = new OutlastClient()

/** Only "try again later" is worth repeating unchanged. */
const retry = (failures: number, error: Error) => error instanceof TryLater && failures < 3

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry, staleTime: 30_000, refetchOnWindowFocus: true }, mutations: { retry: false } },
})

/** The largest page that the server returns. */
const LARGEST_PAGE = 200

/** All items of a list, page after page. */
export async function everyItem<T>(
  load: (options: { limit: number; after?: string }) => Promise<{ items: readonly T[]; next: string | null }>,
): Promise<T[]> {
  const all: T[] = []
  for (let next: string | null = ''; next !== null;) {
    const page = await load({ limit: LARGEST_PAGE, ...(next !== '' && { after: next }) })
    all.push(...page.items)
    next = page.next
  }
  return all
}

interface Updated {
  id: string
  updated_at: string
}

/** The newer of two states of the same thing. */
export const newer = <T extends Updated>(one: T, other: T): T =>
  Date.parse(other.updated_at) < Date.parse(one.updated_at) ? one : other

/** The list with the new state of an item. An answer that is older than an event changes nothing. */
export const withItem = <T extends Updated>(all: readonly T[], item: T, merge: (one: T, other: T) => T = newer): T[] =>
  all.some(({ id }) => id === item.id)
    ? all.map((one) => (one.id === item.id ? merge(one, item) : one))
    : [...all, item]

/** Requests in progress whose data was changed by an event meanwhile. */
const overtaken = new WeakSet<Promise<unknown>>()

/** Applies a stream's event to loaded data. A request in progress may have read older data, so it is repeated
 * afterwards. */
export function showNews<T>(queryKey: QueryKey, change: (loaded: T) => T): void {
  queryClient.setQueryData<T>(queryKey, (loaded) => loaded && change(loaded))
  const query = queryClient.getQueryCache().find({ queryKey, exact: true })
  const loading = query?.state.fetchStatus === 'fetching' ? query.promise : undefined
  if (loading === undefined || overtaken.has(loading)) return
  overtaken.add(loading)
  const again = () => void queryClient.invalidateQueries({ queryKey, exact: true })
  loading.then(again, again)
}

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => client.me(signal), staleTime: 60_000 })
export const modelsQuery = queryOptions({ queryKey: ['models'], queryFn: client.models, staleTime: 300_000 })
const RELOAD_MS = 2_000
/** While `outlast dev` loads saved files, their agents are asked for again. */
export const agentsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['agents', projectId],
    queryFn: ({ signal }) => client.agents({ project: projectId, signal }),
    enabled: projectId !== '',
    refetchInterval: ({ state }) => (state.data?.reloads === true ? RELOAD_MS : false),
  })
export const projectAgentsQuery = (projectId: string) =>
  queryOptions({ queryKey: ['project-agents', projectId], queryFn: () => client.projectAgents(projectId) })
export const projectsQuery = queryOptions({ queryKey: ['projects'], queryFn: client.projects })
export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: client.tokens })
export const membersQuery = (projectId: string) =>
  queryOptions({ queryKey: ['members', projectId], queryFn: () => client.members(projectId) })
export const invitationsQuery = (projectId: string) =>
  queryOptions({ queryKey: ['invitations', projectId], queryFn: () => client.invitations(projectId) })

export const isSignedOut = (error: unknown): boolean => error instanceof OutlastError && error.status === 401
