import { useAgents, namedAgent } from './agent-choice'
import { AgentIcon } from './agent-select'
import { useOpenThread } from './thread-context'

/** The agent that gives an answer, unless it is the default one. */
export function AnswerAgent({ profile }: { profile: string | null }) {
  const { thread } = useOpenThread()
  const agent = namedAgent(useAgents(thread.project_id), profile)
  if (agent === null) return null
  return (
    <p data-answer-agent className="mb-1.5 flex items-center gap-1.5 text-xs font-medium text-muted">
      <AgentIcon icon={agent.icon} />
      {agent.title}
    </p>
  )
}
