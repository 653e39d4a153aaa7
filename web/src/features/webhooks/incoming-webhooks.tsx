import { useQuery } from '@tanstack/react-query'
import { LogIn } from 'lucide-react'
import { useState } from 'react'
import type { Hook, NewHook } from '@outlast/sdk'
import { SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { HookCard } from './hook-card'
import { HookDialog } from './hook-dialog'
import { EmptySection, SectionHead } from './section'
import { hooksQuery } from './webhooks'

interface IncomingWebhooksProps {
  projectId: string
  onSecret: (made: NewHook) => void
}

/** The addresses at which other programs start runs. */
export function IncomingWebhooks({ projectId, onSecret }: IncomingWebhooksProps) {
  const { data, error, refetch } = useQuery(hooksQuery(projectId))
  const [editing, setEditing] = useState<Hook | 'new' | null>(null)
  const add = () => setEditing('new')
  return (
    <section aria-labelledby="incoming">
      <SectionHead
        id="incoming"
        title="Incoming"
        action="New address"
        onAction={data !== undefined && data.items.length > 0 ? add : undefined}
      >
        Let another program start runs in this project.
      </SectionHead>
      {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={1} className="h-24 rounded-2xl" />}
      {data?.items.length === 0 && (
        <EmptySection title="No addresses" action="New address" icon={<LogIn />} onAction={add}>
          A ticket comes in, a build fails, code is pushed: an agent gets to work.
        </EmptySection>
      )}
      <ul aria-label="Incoming webhooks" className="space-y-3">
        {data?.items.map((hook) => (
          <HookCard key={hook.id} hook={hook} onEdit={() => setEditing(hook)} onSecret={onSecret} />
        ))}
      </ul>
      {editing !== null && (
        <HookDialog
          projectId={projectId}
          hook={editing === 'new' ? null : editing}
          onMade={onSecret}
          onClose={() => setEditing(null)}
        />
      )}
    </section>
  )
}
