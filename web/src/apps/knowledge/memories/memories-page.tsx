import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Brain, Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '@/components/button'
import { MoreButton } from '@/components/more-button'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { cn } from '@/lib/cn'
import { client, membersQuery } from '@/lib/queries'
import { stepTabs } from '@/lib/tabs'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { memoriesQuery, refreshMemories, SCOPES, useMemoryNews, type Scope } from './memories'
import { MemoryForm } from './memory-form'
import { MemoryRow } from './memory-row'
import { Switches } from './memory-switches'

/** `/projects/:id/memories`: what agents remember, for the project and for the signed-in person. */
export default function MemoriesPage({ projectId }: { projectId: string }) {
  const { projectId: active, project, choose } = useActiveProject()
  const { data: members } = useQuery(membersQuery(projectId))
  const [picked, setPicked] = useState<Scope | null>(null)
  // In a private project, agents remember for its only member.
  const scope = picked ?? (members !== undefined && members.items.length > 1 ? 'project' : 'person')
  const [adding, setAdding] = useState(false)
  useMemoryNews(projectId)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Memory · Outlast'
  }, [])
  const role = active === projectId && project !== null ? project.role : 'viewer'
  const mayChange = scope === 'person' || role !== 'viewer'
  const chosen = SCOPES.find((one) => one.scope === scope)
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Memory</h1>
        <span className="flex-1" />
        {mayChange && scope !== 'run' && (
          <Button size="sm" look="primary" onClick={() => setAdding(true)}>
            <Plus />
            Add memory
          </Button>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6 sm:py-6">
          <Switches projectId={projectId} ownsProject={role === 'owner'} />
          <ScopeTabs scope={scope} onScope={(next) => (setPicked(next), setAdding(false))} />
          <p className="my-3 text-muted">{chosen?.about}</p>
          {adding && scope !== 'run' && (
            <div className="mb-4 rounded-2xl border border-line bg-raised p-4">
              <MemoryForm
                label="New memory"
                onSave={(text) => client.memories.add(projectId, text, scope).then(() => refreshMemories(projectId))}
                onDone={() => setAdding(false)}
              />
            </div>
          )}
          <MemoryList key={scope} projectId={projectId} scope={scope} mayChange={mayChange} />
        </div>
      </div>
    </>
  )
}

const ScopeTabs = ({ scope, onScope }: { scope: Scope; onScope: (scope: Scope) => void }) => (
  <div role="tablist" aria-label="Whose memories" className="flex gap-1 border-b border-line" onKeyDown={stepTabs}>
    {SCOPES.map((one) => (
      <button
        key={one.scope}
        role="tab"
        id={`memories-${one.scope}`}
        aria-selected={one.scope === scope}
        aria-controls="memories"
        tabIndex={one.scope === scope ? 0 : -1}
        className={cn(
          '-mb-px border-b-2 border-transparent px-3 py-2 text-muted hover:text-fg',
          one.scope === scope && 'border-accent font-medium text-fg',
        )}
        onClick={() => onScope(one.scope)}
      >
        {one.label}
      </button>
    ))}
  </div>
)

interface MemoryListProps {
  projectId: string
  scope: Scope
  mayChange: boolean
}

function MemoryList({ projectId, scope, mayChange }: MemoryListProps) {
  const list = useInfiniteQuery(memoriesQuery(projectId, scope))
  const { data, error, refetch } = list
  const memories = data?.pages.flatMap(({ items }) => items)
  return (
    <div role="tabpanel" id="memories" aria-labelledby={`memories-${scope}`}>
      {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
      {memories === undefined && error === null && <SkeletonRows rows={4} className="h-16 rounded-2xl" />}
      {memories !== undefined && memories.length === 0 && <NoMemories scope={scope} />}
      {memories !== undefined && memories.length > 0 && (
        <ul aria-label="Memories" className="divide-y divide-line rounded-2xl border border-line bg-raised">
          {memories.map((memory) => (
            <MemoryRow key={memory.id} projectId={projectId} memory={memory} mayChange={mayChange} />
          ))}
        </ul>
      )}
      <MoreButton list={list} />
    </div>
  )
}

const NoMemories = ({ scope }: { scope: Scope }) => (
  <Empty icon={<Brain />} title={scope === 'run' ? 'No runs yet' : 'No memories yet'}>
    {scope === 'run'
      ? 'When a run is complete, one line says what it did.'
      : 'Ask an agent to remember something, or add it here. Agents use it from their next run on.'}
  </Empty>
)
