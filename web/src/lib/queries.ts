/** Everything that is loaded rather than streamed, and the keys under which it is kept. */
import { QueryClient, queryOptions, type QueryKey } from '@tanstack/react-query'
import { OutlastClient, OutlastError, TryLater } from '@outlast/sdk'

export const client = new OutlastClient()

/** Only "try again later" is worth repeating unchanged. */
const retry = (failures: number, error: Error) => error instanceof TryLater && failures < 3

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry, staleTime: 30_000, refetchOnWindowFocus: true }, mutations: { retry: false } },
})

/** What is being loaded and was overtaken by news. */
const overtaken = new WeakSet<Promise<unknown>>()

/** Shows what a stream tells in what was loaded. What is being loaded meanwhile may have been read before: it is loaded
 * once more after that. */
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
export const projectsQuery = queryOptions({ queryKey: ['projects'], queryFn: client.projects })
export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: client.tokens })
export const membersQuery = (projectId: string) =>
  queryOptions({ queryKey: ['members', projectId], queryFn: () => client.members(projectId) })
export const invitationsQuery = (projectId: string) =>
  queryOptions({ queryKey: ['invitations', projectId], queryFn: () => client.invitations(projectId) })

export const isSignedOut = (error: unknown): boolean => error instanceof OutlastError && error.status === 401
