import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Problem } from '@/components/problem'
import { SkeletonRows } from '@/components/states'
import { queryClient } from '@/lib/queries'
import { useActiveProject } from '../shell/active-project'
import { LiveFrameProvider } from './live-frame'
import { ScreenSidebar } from './screen-sidebar'
import { screenQuery, screensQuery } from './screens'

/** `/projects/:id/canvas`, and `/screens/:id`: the same canvas with that screen open. */
export default function CanvasPage({ projectId, screenId }: { projectId: string | null; screenId: string | null }) {
  const known = projectId ?? projectOf(screenId)
  const { data, error, refetch } = useQuery({ ...screenQuery(screenId ?? ''), enabled: known === null })
  const { choose } = useActiveProject()
  const project = known ?? data?.project_id ?? null
  useEffect(() => {
    if (project !== null) choose(project)
  }, [project, choose])
  if (project === null && error !== null) return <Problem className="m-4" error={error} retry={() => void refetch()} />
  if (project === null) return <SkeletonRows rows={3} className="h-12" />
  return (
    <LiveFrameProvider key={project}>
      <Screens projectId={project} screenId={screenId} />
    </LiveFrameProvider>
  )
}

/** The project of a screen that was loaded already. */
function projectOf(screenId: string | null): string | null {
  const lists = queryClient.getQueriesData<{ id: string; project_id: string }[]>({ queryKey: ['screens'] })
  for (const [, list] of lists) {
    const found = list?.find(({ id }) => id === screenId)
    if (found !== undefined) return found.project_id
  }
  return null
}

function Screens({ projectId, screenId }: { projectId: string; screenId: string | null }) {
  const { data } = useQuery(screensQuery(projectId))
  const screen = data?.find(({ id }) => id === screenId)
  return screen === undefined ? null : <ScreenSidebar screen={screen} header={screen.title} onClose={() => undefined} />
}
