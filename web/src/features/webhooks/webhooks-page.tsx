import { useQuery } from '@tanstack/react-query'
import { Webhook as WebhookIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { NewHook, NewWebhook, Webhook } from '@outlast/sdk'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { IncomingWebhooks } from './incoming-webhooks'
import { SecretDialog } from './secret-dialog'
import { EmptySection, SectionHead } from './section'
import { WebhookCard } from './webhook-card'
import { WebhookDialog } from './webhook-dialog'
import { webhooksQuery } from './webhooks'

/** `/projects/:id/webhooks`: where events of the project are sent to. For owners. */
export default function WebhooksPage({ projectId }: { projectId: string }) {
  const { projectId: active, project, choose } = useActiveProject()
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Webhooks · Outlast'
  }, [])
  const role = active === projectId ? project?.role : undefined
  return role === undefined || role === 'owner' ? (
    <Webhooks projectId={projectId} />
  ) : (
    <Empty className="pt-[20vh]" icon={<WebhookIcon />} title="This page is for owners">
      An owner of this project can show you its webhooks.
    </Empty>
  )
}

function Webhooks({ projectId }: { projectId: string }) {
  const { data, error, refetch } = useQuery(webhooksQuery(projectId))
  const [editing, setEditing] = useState<Webhook | 'new' | null>(null)
  const [made, setMade] = useState<NewWebhook | NewHook | null>(null)
  const add = () => setEditing('new')
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Webhooks</h1>
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl space-y-9 px-3 py-4 sm:px-6 sm:py-6">
          <section aria-labelledby="outgoing">
            <SectionHead
              id="outgoing"
              title="Outgoing"
              action="New webhook"
              onAction={data !== undefined && data.items.length > 0 ? add : undefined}
            >
              Tell another program what happens in this project.
            </SectionHead>
            {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
            {data === undefined && error === null && <SkeletonRows rows={2} className="h-24 rounded-2xl" />}
            {data?.items.length === 0 && (
              <EmptySection title="No webhooks" action="New webhook" icon={<WebhookIcon />} onAction={add}>
                A run has ended, an approval is needed, a document was made: your program gets a signed request.
              </EmptySection>
            )}
            <ul aria-label="Webhooks" className="space-y-3">
              {data?.items.map((webhook) => (
                <WebhookCard key={webhook.id} webhook={webhook} onEdit={() => setEditing(webhook)} onSecret={setMade} />
              ))}
            </ul>
          </section>
          <IncomingWebhooks projectId={projectId} onSecret={setMade} />
        </div>
      </div>
      {editing !== null && (
        <WebhookDialog
          projectId={projectId}
          webhook={editing === 'new' ? null : editing}
          onMade={setMade}
          onClose={() => setEditing(null)}
        />
      )}
      {made !== null && <SecretDialog made={made} onClose={() => setMade(null)} />}
    </>
  )
}
