import { queryOptions, useQuery } from '@tanstack/react-query'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/states'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'

interface Poll {
  id: string
  question: string
  options: { text: string; votes: number }[]
}

export const pollsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['polls', projectId],
    queryFn: () => client.json<{ items: Poll[] }>('GET', `/v1/projects/${projectId}/polls`),
  })

export default function PollsPage({ projectId }: { projectId: string }) {
  const { data, error } = useQuery(pollsQuery(projectId))
  if (error !== null) return <Problem error={error} />
  if (data === undefined) return <SkeletonRows rows={3} className="h-12" />
  if (data.items.length === 0) return <Empty title="No polls yet">Ask an agent to start one.</Empty>
  return data.items.map(({ id, question, options }) => (
    <section key={id}>
      <h2>{question}</h2>
      <ul>
        {options.map(({ text, votes }) => (
          <li key={text}>{`${text}: ${plural(votes, 'vote')}`}</li>
        ))}
      </ul>
    </section>
  ))
}
