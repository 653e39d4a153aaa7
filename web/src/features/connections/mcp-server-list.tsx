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
  return (
    <section aria-label="MCP servers" className="mt-8">
      <div className="mb-2 flex min-h-8 items-center gap-3">
        <h2 className="flex-1 font-medium">MCP servers</h2>
        {mayManage && (
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
              server={server}
              account={accounts.find(({ server_id: id }) => id === server.id)}
              mayManage={mayManage}
              mayConnect={mayConnect}
              onShow={() => setShown(server.id)}
            />
          ))}
        </ul>
      )}
      {adding && <McpServerDialog projectId={projectId} onAdded={setShown} onClose={() => setAdding(false)} />}
      {shown !== null && <McpToolsDialog serverId={shown} mayManage={mayManage} onClose={() => setShown(null)} />}
    </section>
  )
}

interface RowProps extends Omit<McpServerListProps, 'projectId'> {
  server: McpServer
  account: Account | undefined
  onShow: () => void
}

function Row({ server, account, mayManage, mayConnect, onShow }: RowProps) {
  const { id, name, url, secret, allowed, waiting } = server
  const [asking, setAsking] = useState(false)
  return (
    <li data-mcp-server={name} className="px-4 py-3 sm:px-5">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <p className="truncate font-medium">{name}</p>
          <p className="mt-0.5 truncate text-[13px] text-muted" title={url}>
            {url.replace(/^https?:\/\//, '')}
            {secret !== null && ` · ${secret}`}
          </p>
          <p className="mt-0.5 text-[13px] text-muted">
            {allowed === 0 ? 'No tools for agents yet' : `${plural(allowed, 'tool')} for agents`}
            {waiting > 0 && <span className="text-warn"> · {waiting} to look at</span>}
          </p>
        </div>
        <Button size="sm" onClick={onShow}>
          {mayManage && waiting > 0 ? 'Look at tools' : 'Tools'}
        </Button>
        {mayManage && (
          <Menu
            align="end"
            trigger={
              <IconButton label={`Actions for ${name}`} size="icon-sm">
                <Ellipsis />
              </IconButton>
            }
          >
            <MenuItem onSelect={() => void client.mcpServers.refresh(id).then(keep, complain)}>
              <RefreshCw />
              List its tools again
            </MenuItem>
            <MenuItem danger onSelect={() => setAsking(true)}>
              <Trash2 />
              Remove
            </MenuItem>
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
        Agents of this project lose its tools at once, also those that work.
      </Confirm>
    </li>
  )
}
