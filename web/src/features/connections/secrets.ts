/** The saved secrets of a project, and the requests that carried one. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Secret } from '@outlast/sdk'
import { client, queryClient } from '@/lib/queries'

export const secretsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['secrets', projectId],
    queryFn: ({ signal }) => client.secrets.list(projectId, signal),
  })

export const usesQuery = (projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['secret-uses', projectId],
    queryFn: ({ pageParam, signal }) =>
      client.secrets.uses(projectId, { limit: 20, ...(pageParam !== '' && { before: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })

export const reload = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['secrets'] })

/** Whose value goes into the requests of runs that the signed-in person starts. */
export function valueOf({ has_own_value, has_value, is_own }: Secret): 'own' | 'shared' | 'missing' {
  if (has_own_value || is_own) return 'own'
  return has_value ? 'shared' : 'missing'
}

/** The hosts in a text: separated by spaces, commas or lines; of an address, its host. */
export const hostsIn = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((word) => word.replace(/^https?:\/\//i, '').replace(/\/.*$/, ''))
    .filter((word) => word !== '')
