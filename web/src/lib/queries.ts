/** Everything that is loaded rather than streamed, and the keys under which it is kept. */
import { QueryClient, queryOptions } from '@tanstack/react-query'
import { OutlastClient, OutlastError, TryLater } from '@outlast/sdk'

export const client = new OutlastClient()

/** Only "try again later" is worth repeating unchanged. */
const retry = (failures: number, error: Error) => error instanceof TryLater && failures < 3

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry, staleTime: 30_000, refetchOnWindowFocus: true }, mutations: { retry: false } },
})

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => client.me(signal), staleTime: 60_000 })
export const modelsQuery = queryOptions({ queryKey: ['models'], queryFn: client.models, staleTime: 300_000 })
export const projectsQuery = queryOptions({ queryKey: ['projects'], queryFn: client.projects })
export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: client.tokens })
export const membersQuery = (projectId: string) =>
  queryOptions({ queryKey: ['members', projectId], queryFn: () => client.members(projectId) })
export const invitationsQuery = (projectId: string) =>
  queryOptions({ queryKey: ['invitations', projectId], queryFn: () => client.invitations(projectId) })

export const isSignedOut = (error: unknown): boolean => error instanceof OutlastError && error.status === 401
