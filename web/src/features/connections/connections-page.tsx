import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Secret } from '@outlast/sdk'
import { Button } from '@/components/button'
import { MoreButton } from '@/components/more-button'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { Ago } from '@/components/time'
import { cn } from '@/lib/cn'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { McpServerList } from './mcp-server-list'
import { SecretDialog } from './secret-dialog'
import { SecretRow } from './secret-row'
import { ServiceList } from './service-list'
import { secretsQuery, usesQuery } from './secrets'
import { ValueDialog } from './value-dialog'

/** What a dialog is open for: a new secret, the hosts of one, its value, or the person's own. */
export type Editing = { what: 'new' } | { what: 'hosts' | 'value' | 'own'; secret: Secret }

/** `/projects/:id/connections`: the secrets of a project's sandboxes, services, MCP servers, and the uses of secrets. */
export default function ConnectionsPage({ projectId }: { projectId: string }) {
  const { projectId: active, project, choose } = useActiveProject()
  const { data, error, refetch } = useQuery(secretsQuery(projectId))
  const [editing, setEditing] = useState<Editing | null>(null)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Connections · Outlast'
  }, [])
  const mayManage = active === projectId && project?.role === 'owner'
  const mayConnect = active === projectId && project !== null && project.role !== 'viewer'
  const add = mayConnect && (
    <Button size="sm" look="primary" onClick={() => setEditing({ what: 'new' })}>
      <Plus />
      New secret
    </Button>
  )
  const close = () => setEditing(null)
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Connections</h1>
        <span className="flex-1" />
        {data !== undefined && data.items.length > 0 && add}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6 sm:py-6">
          {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
          {data === undefined && error === null && <SkeletonRows rows={3} className="h-16 rounded-2xl" />}
          {data?.items.length === 0 && (
            <Empty className="pt-[6vh]" icon={<KeyRound />} title="No secrets" action={add || undefined}>
              Save a key here, and code in sandboxes can use a service without seeing the key.
              {!mayManage && ' An owner of the project can add one for everybody.'}
            </Empty>
          )}
          {data !== undefined && data.items.length > 0 && (
            <>
              <p className="mb-3 text-muted">
                Sandboxes that start from now on can reach these hosts. Code inside sees a placeholder; the server puts
                the value into its requests.
              </p>
              <ul aria-label="Secrets" className="divide-y divide-line rounded-2xl border border-line bg-raised">
                {data.items.map((secret) => (
                  <SecretRow
                    key={secret.id}
                    secret={secret}
                    mayManage={secret.is_own || (mayManage && secret.project_id !== null)}
                    onEdit={(what) => setEditing({ what, secret })}
                  />
                ))}
              </ul>
            </>
          )}
          <ServiceList projectId={projectId} mayConnect={mayConnect} />
          <McpServerList projectId={projectId} mayManage={mayManage} mayConnect={mayConnect} />
          <Uses projectId={projectId} />
        </div>
      </div>
      {editing !== null &&
        (editing.what === 'new' || editing.what === 'hosts' ? (
          <SecretDialog
            projectId={projectId}
            secret={editing.what === 'new' ? null : editing.secret}
            mayManage={mayManage}
            onClose={close}
          />
        ) : (
          <ValueDialog secret={editing.secret} own={editing.what === 'own'} onClose={close} />
        ))}
    </>
  )
}

/** The requests that carried a secret, the newest first; nothing before the first. */
function Uses({ projectId }: { projectId: string }) {
  const list = useInfiniteQuery(usesQuery(projectId))
  const uses = list.data?.pages.flatMap(({ items }) => items) ?? []
  if (uses.length === 0) return null
  return (
    <section aria-label="Recent uses" className="mt-8">
      <h2 className="mb-2 font-medium">Recent uses</h2>
      <ul className="divide-y divide-line rounded-2xl border border-line bg-raised text-[13px]">
        {uses.map(({ id, secret, mcp_server, method, host, path, status, at }) => (
          <li key={id} className="flex items-center gap-3 px-4 py-2 sm:px-5">
            {secret === '' ? (
              <span className="shrink-0 text-xs">Account on {mcp_server}</span>
            ) : (
              <code className="shrink-0 font-mono text-xs">{secret}</code>
            )}
            <span className="min-w-0 flex-1 truncate text-muted" title={`${method} ${host}${path}`}>
              {method} {host}
              {path}
            </span>
            <span className={cn('shrink-0 tabular-nums', (status ?? 500) >= 400 ? 'text-danger' : 'text-muted')}>
              {status ?? 'no answer'}
            </span>
            <Ago iso={at} className="w-10 shrink-0 text-right text-xs text-faint" />
          </li>
        ))}
      </ul>
      <MoreButton list={list} />
    </section>
  )
}
