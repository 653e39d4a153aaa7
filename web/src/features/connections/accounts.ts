/** The signed-in person's accounts on MCP servers. */
import { queryOptions } from '@tanstack/react-query'
import type { Account } from '@outlast/sdk'
import { client, queryClient } from '@/lib/queries'

export const accountsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['accounts', projectId],
    queryFn: ({ signal }) => client.connections.list(projectId, signal),
    // The sign-in ends in another tab, which may be on another origin of this server.
    refetchOnWindowFocus: 'always',
  })

export const reloadAccounts = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['accounts'] })

/** Open the sign-in of a server in a new tab. */
export async function signIn(serverId: string): Promise<void> {
  const tab = window.open('', '_blank') // at once: later, the browser would block it
  try {
    const { url } = await client.connections.begin(serverId)
    if (tab === null) location.assign(url)
    else {
      tab.opener = null
      tab.location.replace(url)
    }
  } catch (error) {
    tab?.close()
    throw error
  }
}

export const isConnected = ({ state }: Account): boolean => state === 'connected'
