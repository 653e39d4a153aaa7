import { isStyled, type PendingElement } from '@outlast/sdk'
import { Button } from '@/components/button'
import { cn } from '@/lib/cn'
import { useAskAgent } from './ask-agent'

/** Why a pending change was not saved, or cannot be: the server's reason and hint. */
export function SaveProblem({ one }: { one: PendingElement }) {
  const askAgent = useAskAgent()
  const problem = one.problem ?? (one.locked !== null && isStyled(one) ? { ...one.locked, stale: false } : null)
  if (problem === null) return null
  return (
    <div className={cn('mt-1.5 rounded-lg px-2.5 py-2 text-[12.5px]', one.problem ? 'bg-danger-soft' : 'bg-warn-soft')}>
      <p className={one.problem ? 'text-danger' : 'text-muted'}>
        {one.problem ? problem.reason : 'Read-only preview: this cannot be saved by hand.'}
      </p>
      {one.problem !== null && <p className="mt-0.5 text-muted">{problem.hint}</p>}
      {!problem.stale && (
        <Button
          size="sm"
          className="mt-1.5"
          onClick={() => askAgent({ tag: one.tag, mark: one.mark, refusal: problem, pending: one })}
        >
          Ask the agent
        </Button>
      )}
    </div>
  )
}
