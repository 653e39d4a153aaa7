import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '@/lib/queries'

/** Why the files of agents that were saved last were not loaded, for who runs `outlast dev`. */
export function AgentProblem({ projectId }: { projectId: string }) {
  const problem = useQuery(agentsQuery(projectId)).data?.problem ?? null
  if (problem === null) return null
  const [first, ...rest] = problem.split('\n')
  return (
    <details role="alert" className="shrink-0 border-b border-line bg-side px-4 py-2 text-[13px]">
      <summary className="cursor-pointer font-medium text-danger">{first}</summary>
      <p className="mt-1 text-muted">
        Agents that were loaded before stay in use. This note goes away once the files load.
      </p>
      <pre className="mt-2 max-h-60 overflow-auto text-xs">{rest.join('\n').trim()}</pre>
    </details>
  )
}
