import { queryOptions, useQuery } from '@tanstack/react-query'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'

interface Poll {
  id: string
  title: string
  options: string[]
  /** The option of each user, by user id. */
  votes: Record<string, string>
}

export const pollsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['polls', projectId],
    queryFn: () => client.json<Poll[]>('GET', `/v1/projects/${projectId}/polls`),
  })

export default function PollsPage({ projectId }: { projectId: string }) {
  const { data, error } = useQuery(pollsQuery(projectId))
  if (error !== null) return <Problem error={error} />
  if (data === undefined) return <SkeletonRows rows={3} className="h-12" />
  if (data.length === 0) return <Empty title="No polls yet">Ask an agent to start one.</Empty>
  return data.map(({ id, title, options, votes }) => (
    <section key={id}>
      <h2>{title}</h2>
      {options.map((text) => (
        <p key={text}>{`${text}: ${plural(Object.values(votes).filter((vote) => vote === text).length, 'vote')}`}</p>
      ))}
    </section>
  ))
}
