import { useQuery } from '@tanstack/react-query'
import { Box } from 'lucide-react'
import { useEffect } from 'react'
import { Link } from 'wouter'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { plural } from '@/lib/format'
import { useActiveProject } from '../shell/active-project'
import { PageHeader } from '../shell/shell'
import { sandboxesQuery, useSandboxNews } from './sandboxes'
import { SandboxCard } from './sandbox-card'

/** Every living sandbox of the project: its resources, services and timers. */
export default function SandboxesPage() {
  const { projectId, project } = useActiveProject()
  const { data, error, isPending, refetch } = useQuery(sandboxesQuery(projectId))
  useSandboxNews(projectId)
  useEffect(() => {
    document.title = 'Sandboxes · Outlast'
  }, [])
  const sandboxes = data?.items ?? []
  const awake = sandboxes.filter(({ state }) => state !== 'paused').length
  return (
    <>
      <PageHeader>
        <h1 className="flex-1 text-[14.5px] font-semibold">Sandboxes</h1>
        {sandboxes.length > 0 && (
          <p className="text-xs text-muted tabular-nums" role="status">
            {plural(sandboxes.length, 'sandbox', 'sandboxes')}, {awake} awake
          </p>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6 sm:py-6">
          {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
          {isPending && <SkeletonRows rows={3} className="h-36 rounded-2xl" />}
          {data !== undefined && sandboxes.length === 0 && <None projectId={projectId} />}
          <ul className="space-y-3" aria-label="Sandboxes">
            {sandboxes.map((sandbox) => (
              <SandboxCard
                key={sandbox.id}
                sandbox={sandbox}
                mayChange={project !== null && project.role !== 'viewer'}
              />
            ))}
          </ul>
        </div>
      </div>
    </>
  )
}

const None = ({ projectId }: { projectId: string }) => (
  <Empty
    className="pt-[12vh]"
    icon={<Box />}
    title="No sandboxes yet"
    action={
      <Link href={`/projects/${projectId}`}>
        <Button look="primary" tabIndex={-1}>
          Start a thread
        </Button>
      </Link>
    }
  >
    A thread gets its own isolated machine when an agent first runs a command or writes a file. It then appears here.
  </Empty>
)
