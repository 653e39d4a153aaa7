import { useQuery } from '@tanstack/react-query'
import { Ellipsis, Plus, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Account, McpServer } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem } from '@/components/menu'
import { Problem } from '@/components/problem'
import { complain } from '@/components/toast'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { useMe } from '../session/session-gate'
import { AccountRow } from './account-row'
import { accountsQuery } from './accounts'
import { keep, reloadServers, serversQuery } from './mcp'
import { McpServerDialog } from './mcp-server-dialog'
import { McpToolsDialog } from './mcp-tools-dialog'

interface McpServerListProps {
  projectId: string
  mayManage: boolean
  mayConnect: boolean
}

/** The project's MCP servers: what each gives to agents, and what waits to be looked at. */
export function McpServerList({ projectId, mayManage, mayConnect }: McpServerListProps) {
  const { data, error, refetch } = useQuery(serversQuery(projectId))
  const accounts = useQuery(accountsQuery(projectId)).data?.items ?? []
  const [adding, setAdding] = useState(false)
  const [shown, setShown] = useState<string | null>(null)
  const servers = data?.items ?? []
  const mayAllow = useMayAllow(mayManage)
  const open = servers.find(({ id }) => id === shown)
  return (
    <section aria-label="MCP servers" className="mt-8">
      <div className="mb-2 flex min-h-8 items-center gap-3">
        <h2 className="flex-1 font-medium">MCP servers</h2>
        {mayConnect && (
          <Button size="sm" onClick={() => setAdding(true)}>
            <Plus />
            Add server
          </Button>
        )}
      </div>
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data !== undefined && servers.length === 0 && (
        <p className="text-muted">
          Servers that speak MCP give tools to agents: an issue tracker, a database, a search.
          {!mayManage && ' An owner of the project can add one.'}
        </p>
      )}
      {servers.length > 0 && (
        <ul className="divide-y divide-line rounded-2xl border border-line bg-raised">
          {servers.map((server) => (
            <Row
              key={server.id}
              projectId={projectId}
              server={server}
              account={accounts.find(({ server_id: id }) => id === server.id)}
              mayAllow={mayAllow(server)}
              mayConnect={mayConnect}
              onShow={() => setShown(server.id)}
            />
          ))}
        </ul>
      )}
      {adding && (
        <McpServerDialog
          projectId={projectId}
          mayManage={mayManage}
          onAdded={setShown}
          onClose={() => setAdding(false)}
        />
      )}
      {shown !== null && (
        <McpToolsDialog
          serverId={shown}
          mayManage={open === undefined ? mayManage : mayAllow(open)}
          onClose={() => setShown(null)}
        />
      )}
    </section>
  )
}

/** Whether the person decides on a server's tools: owners of the project; administrators for one of every project, or of
 *  agents' code. */
function useMayAllow(mayManage: boolean): (server: McpServer) => boolean {
  const { user } = useMe()
  return ({ origin }) => (origin === 'code' || origin === 'server' ? user.is_admin : origin === 'user' || mayManage)
}

interface RowProps {
  projectId: string
  server: McpServer
  account: Account | undefined
  mayAllow: boolean
  mayConnect: boolean
  onShow: () => void
}

function Row({ projectId, server, account, mayAllow, mayConnect, onShow }: RowProps) {
  const { id, name, url, origin, agents, hosts, secret, secrets, allowed, waiting, listed_at, problem } = server
  const where = server.package ?? url.replace(/^https?:\/\//, '')
  const version = server.version === null ? '' : ` · version ${server.version}`
  const pending =
    server.package === null ? 'Its tools are listed when a run first needs them' : 'The package is being installed'
  const [asking, setAsking] = useState(false)
  return (
    <li data-mcp-server={name} className="px-4 py-3 sm:px-5">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <p className="truncate font-medium">
            {name}
            {origin === 'user' && <span className="font-normal text-muted"> · only for you</span>}
            {origin === 'server' && <span className="font-normal text-muted"> · for every project</span>}
            {origin === 'code' && (
              <span className="font-normal text-muted"> · from the code of {agents.join(', ') || 'an agent'}</span>
            )}
          </p>
          <p className="mt-0.5 truncate text-[13px] text-muted" title={server.package ?? url}>
            {where}
            {version}
            {[...(secret === null ? [] : [secret]), ...secrets].map((one) => ` · ${one}`)}
          </p>
          {hosts.length > 0 && (
            <p className="mt-0.5 truncate text-[13px] text-muted" title={hosts.join(', ')}>
              May reach {hosts.join(', ')}
            </p>
          )}
          <p className="mt-0.5 text-[13px] text-muted">
            {allowed > 0 && `${plural(allowed, 'tool')} for ${origin === 'code' ? 'its agent' : 'agents'}`}
            {allowed === 0 && (listed_at === null ? pending : 'No tools for agents yet')}
            {waiting > 0 && <span className="text-warn"> · {waiting} to look at</span>}
          </p>
          {problem !== null && <p className="mt-0.5 text-[13px] text-warn">{problem}</p>}
        </div>
        <Button size="sm" onClick={onShow}>
          {mayAllow && waiting > 0 ? 'Look at tools' : 'Tools'}
        </Button>
        {mayAllow && (
          <Menu
            align="end"
            trigger={
              <IconButton label={`Actions for ${name}`} size="icon-sm">
                <Ellipsis />
              </IconButton>
            }
          >
            <MenuItem
              onSelect={() => void client.mcpServers.refresh(id, projectId).then(keep, complain).then(reloadServers)}
            >
              <RefreshCw />
              List its tools again
            </MenuItem>
            {origin !== 'code' && (
              <MenuItem danger onSelect={() => setAsking(true)}>
                <Trash2 />
                Remove
              </MenuItem>
            )}
          </Menu>
        )}
      </div>
      {account !== undefined && <AccountRow account={account} mayConnect={mayConnect} />}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Remove ${name}?`}
        action="Remove server"
        onConfirm={() => void client.mcpServers.remove(id).then(reloadServers, complain)}
      >
        Agents lose its tools at once, also those that work.
      </Confirm>
    </li>
  )
}
