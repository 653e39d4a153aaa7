/** The signed-in person's accounts on MCP servers. */
import { queryOptions } from '@tanstack/react-query'
import type { Account } from '@outlast/sdk'
import { client, queryClient } from '@/lib/queries'
import { reloadServers } from './mcp'

export const accountsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['accounts', projectId],
    queryFn: ({ signal }) => client.connections.list(projectId, signal),
    refetchOnWindowFocus: 'always', // a sign-in may end on another origin of this server, which has no channel
  })

/** Between the tabs of this app: an account was connected. */
const tabs = new BroadcastChannel('outlast.accounts')
tabs.onmessage = () => {
  void reloadAccounts()
  void reloadServers()
  void queryClient.invalidateQueries({ queryKey: ['mcp-tools'] }) // an owner's first sign-in lists them
}

export const reloadAccounts = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['accounts'] })

export function announceConnected(): void {
  tabs.postMessage('connected')
  void reloadAccounts()
}

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
