import { useQuery } from '@tanstack/react-query'
import { FileList } from '../files/file-list'
import { checkpointsQuery } from '../files/checkpoints'

/** The files of a screen. */
export function CodeTab({ screen }: { screen: { id: string; thread_id: string } }) {
  const { data } = useQuery(checkpointsQuery(screen.thread_id))
  const newest = data?.items[0]
  return newest === undefined ? null : <FileList checkpoint={newest} />
}
