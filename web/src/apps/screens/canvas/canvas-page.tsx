import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { ScreenData } from '@outlast/sdk'
import { Gone, PermissionNeeded } from '@outlast/sdk'
import { Problem } from '@/components/problem'
import { Empty, Skeleton } from '@/components/states'
import { queryClient } from '@/lib/queries'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { CanvasProvider } from './canvas'
import { LiveFrameProvider } from './live-frame'
import { PhoneScreens } from './phone-screens'
import { screenQuery } from './screens'
import { ScreensView } from './screens-view'
import { useNarrow } from '@/lib/use-narrow'

/** `/projects/:id/canvas`, and `/screens/:id`: the same canvas with that screen open. */
export default function CanvasPage({ projectId, screenId }: { projectId: string | null; screenId: string | null }) {
  const known = projectId ?? projectOf(screenId)
  const { data, error, refetch } = useQuery({ ...screenQuery(screenId ?? ''), enabled: known === null })
  const { choose } = useActiveProject()
  const narrow = useNarrow()
  const project = known ?? data?.project_id ?? null
  useEffect(() => {
    if (project !== null) choose(project)
  }, [project, choose])
  if (project === null) return <NotYet error={error} retry={() => void refetch()} />
  const View = narrow ? PhoneScreens : ScreensView
  return (
    <LiveFrameProvider key={project}>
      <CanvasProvider>
        <View projectId={project} screenId={screenId} />
      </CanvasProvider>
    </LiveFrameProvider>
  )
}

/** The project of a screen that was loaded already. */
function projectOf(screenId: string | null): string | null {
  for (const [, list] of queryClient.getQueriesData<ScreenData[]>({ queryKey: ['screens'] })) {
    const found = list?.find(({ id }) => id === screenId)
    if (found !== undefined) return found.project_id
  }
  return null
}

function NotYet({ error, retry }: { error: Error | null; retry: () => void }) {
  const hidden = error instanceof Gone || error instanceof PermissionNeeded
  return (
    <>
      <PageHeader>
        <h1 className="text-[14.5px] font-semibold">Canvas</h1>
      </PageHeader>
      {error === null ? (
        <div role="status" aria-label="Loading the screen" className="p-16">
          <Skeleton className="h-56 w-80 rounded-2xl" />
        </div>
      ) : hidden ? (
        <Empty
          className="pt-[20vh]"
          title="This screen is not here"
          action={
            <Link href="/" className="text-link underline underline-offset-2">
              Go to the start
            </Link>
          }
        >
          It was deleted, or you are not a member of its project.
        </Empty>
      ) : (
        <Problem className="m-4" error={error} retry={retry} />
      )}
    </>
  )
}
