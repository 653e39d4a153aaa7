import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { Skeleton } from '@/components/placeholders'
import { queryClient } from '@/lib/queries'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { CanvasProvider } from './canvas'
import { LiveFrameProvider } from './live-frame'
import { PhoneScreens } from './phone-screens'
import { screenQuery } from './screens'
import { ScreensView } from './screens-view'
import { useNarrow } from '@/lib/use-narrow'
import { NotLoaded } from '@/components/not-loaded'

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

/** The project of a screen that is loaded already. */
function projectOf(screenId: string | null): string | null {
  for (const [, list] of queryClient.getQueriesData<ScreenData[]>({ queryKey: ['screens'] })) {
    const screen = list?.find(({ id }) => id === screenId)
    if (screen !== undefined) return screen.project_id
  }
  return null
}

function NotYet({ error, retry }: { error: Error | null; retry: () => void }) {
  return (
    <>
      <PageHeader>
        <h1 className="text-[14.5px] font-semibold">Canvas</h1>
      </PageHeader>
      {error === null ? (
        <div role="status" aria-label="Loading the screen" className="p-16">
          <Skeleton className="h-56 w-80 rounded-2xl" />
        </div>
      ) : (
        <NotLoaded noun="Screen" error={error} retry={retry} />
      )}
    </>
  )
}
