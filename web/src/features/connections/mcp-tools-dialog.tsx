import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { McpServer, McpTool, McpTools } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { WordDiff } from '@/components/word-diff'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { isInstalling, keep, riskOf, toolsQuery, waitingIn } from './mcp'

const LONG = 220
const noTools = ({ listed_at }: McpServer): string =>
  listed_at === null ? 'Its tools have not been listed yet.' : 'The server lists no tools.'

interface McpToolsDialogProps {
  serverId: string
  mayManage: boolean
  onClose: () => void
}

/** The tools of an MCP server, as it describes them; owners choose which agents get. */
export function McpToolsDialog({ serverId, mayManage, onClose }: McpToolsDialogProps) {
  const { data, error, refetch } = useQuery(toolsQuery(serverId))
  const change = useMutation({ mutationFn: (asked: Promise<McpTools>) => asked, onSuccess: keep })
  const allow = (tools: Record<string, string>) => change.mutate(client.mcpServers.allow(serverId, tools))
  const tools = data?.tools ?? []
  const waiting = waitingIn(tools)
  const count = Object.keys(waiting).length
  return (
    <Dialog
      open
      onClose={onClose}
      title={data === undefined ? 'Tools' : `Tools of ${data.server.name}`}
      description={
        data?.server.origin === 'code'
          ? 'The code of an agent names this server. Tools that change or are new are withheld until an administrator allows them.'
          : 'The server describes its tools itself. Agents get those that you allow, exactly as you see them here.'
      }
      className="sm:ml-[-19rem] sm:w-[38rem]"
    >
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={3} className="h-14 rounded-xl" />}
      {data !== undefined && tools.length === 0 && (
        <p className="text-muted">
          {data.server.problem ??
            (isInstalling(data.server) ? 'The package is being installed …' : noTools(data.server))}
        </p>
      )}
      <ul className="divide-y divide-line">
        {tools.map((tool) => (
          <Tool
            key={tool.name}
            tool={tool}
            mayManage={mayManage}
            busy={change.isPending}
            onAllow={() => allow({ [tool.name]: tool.digest })}
            onForbid={() => change.mutate(client.mcpServers.forbid(serverId, [tool.name]))}
          />
        ))}
      </ul>
      {data?.left_out.map(({ name, reason }) => (
        <p key={name} className="mt-2 text-[13px] text-muted">
          <code className="font-mono text-xs">{name}</code> was left out: {reason}.
        </p>
      ))}
      {change.error !== null && <Problem className="mt-3" error={change.error} />}
      <div className="mt-4 flex justify-end gap-2">
        {mayManage && count > 0 && (
          <Button look="primary" busy={change.isPending} onClick={() => allow(waiting)}>
            {count === 1 ? 'Allow it' : `Allow all ${plural(count, 'tool')}`}
          </Button>
        )}
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  )
}

interface ToolProps {
  tool: McpTool
  mayManage: boolean
  busy: boolean
  onAllow: () => void
  onForbid: () => void
}

function Tool({ tool, mayManage, busy, onAllow, onForbid }: ToolProps) {
  const { name, shown, state, description, allowed_description } = tool
  return (
    <li data-mcp-tool={name} data-state={state} className="flex items-start gap-3 py-3">
      <div className="min-w-0 flex-1">
        <p className="truncate font-mono text-[13px] font-medium" title={shown}>
          {shown}
        </p>
        <p className="mt-0.5 text-xs text-muted">
          {riskOf(tool)}
          {state === 'changed' && (
            <span className="text-warn"> · changed by the server, withheld until you allow it</span>
          )}
          {state === 'gone' && <span className="text-warn"> · the server no longer lists it</span>}
        </p>
        {state === 'changed' && allowed_description !== null && allowed_description !== description ? (
          <WordDiff className="mt-1 text-[13px]" before={allowed_description} after={description} />
        ) : (
          <Description text={description} />
        )}
      </div>
      {mayManage &&
        (state === 'allowed' || state === 'gone' ? (
          <Button size="sm" disabled={busy} aria-label={`Withdraw ${shown}`} onClick={onForbid}>
            Withdraw
          </Button>
        ) : (
          <Button size="sm" disabled={busy} aria-label={`Allow ${shown}`} onClick={onAllow}>
            Allow
          </Button>
        ))}
      {!mayManage && state === 'allowed' && <span className="shrink-0 text-xs text-ok">for agents</span>}
    </li>
  )
}

function Description({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  const cut = !open && text.length > LONG
  return (
    <p className="mt-1 text-[13px] [overflow-wrap:anywhere] whitespace-pre-wrap">
      {cut ? `${text.slice(0, LONG).trimEnd()} … ` : text}
      {cut && (
        <button className="text-link hover:underline" onClick={() => setOpen(true)}>
          Show all
        </button>
      )}
    </p>
  )
}
