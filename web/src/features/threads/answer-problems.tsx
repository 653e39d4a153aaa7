import { useQuery } from '@tanstack/react-query'
import { TriangleAlert, Wrench } from 'lucide-react'
import { useState } from 'react'
import type { Message, RunState } from '@outlast/sdk'
import { Button } from '@/components/button'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { useMayDrive } from './may-drive'
import { useModelChoice } from './model-choice'
import { useSender } from './thread-context'

interface AnswerProblemsProps {
  message: Message
  /** Set if this page saw the run. */
  run: RunState | undefined
  isLast: boolean
}

/** AnswerProblems that a completed answer left, with a button to ask for a fix. */
export function AnswerProblems({ message, run, isLast }: AnswerProblemsProps) {
  const problems = useProblems(message, run)
  if (problems.length === 0) return null
  return (
    <section
      data-problems
      aria-label="Completed with problems"
      className="mt-3 rounded-xl border border-warn-line bg-warn-soft px-3.5 py-2.5 text-warn"
    >
      <p className="flex items-center gap-2 font-medium">
        <TriangleAlert className="size-4 shrink-0" aria-hidden />
        Completed with problems. Nothing was charged.
      </p>
      <ul className="mt-1.5 space-y-1.5">
        {problems.map((problem) => (
          <Item key={problem} problem={problem} />
        ))}
      </ul>
      {isLast && <AskToFix problems={problems} />}
    </section>
  )
}

/** A single line is shown as it is; longer compiler output is folded under its first line. */
function Item({ problem }: { problem: string }) {
  const [first = '', ...more] = problem.trim().split('\n')
  if (more.length === 0) return <li className="[overflow-wrap:anywhere]">{first}</li>
  return (
    <li>
      <details>
        <summary className="[overflow-wrap:anywhere]">{first}</summary>
        <pre className="mt-1 max-h-48 overflow-auto rounded-lg bg-code p-2.5 font-mono text-xs whitespace-pre-wrap text-fg">
          {more.join('\n').trim()}
        </pre>
      </details>
    </li>
  )
}

function useProblems(message: Message, run: RunState | undefined): string[] {
  const asked = message.stop_reason === 'problems' && (run?.problems.length ?? 0) === 0 && message.run_id !== null
  const { data } = useQuery({
    queryKey: ['run-problems', message.run_id],
    queryFn: async ({ signal }) => (await client.run(message.run_id ?? '', signal)).problems,
    enabled: asked,
    staleTime: Infinity,
  })
  return run !== undefined && run.problems.length > 0 ? run.problems : (data ?? [])
}

function AskToFix({ problems }: { problems: string[] }) {
  const mayDrive = useMayDrive()
  const { send } = useSender()
  const { model } = useModelChoice()
  const [busy, setBusy] = useState(false)
  if (!mayDrive) return null
  const ask = () => {
    setBusy(true)
    const content = `Please fix these problems:\n\n${problems.map((problem) => `- ${problem.trim()}`).join('\n')}`
    send({ content, images: [], model: model?.id ?? null })
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return (
    <Button size="sm" className="mt-2.5 text-fg" busy={busy} onClick={ask}>
      {!busy && <Wrench />}
      Ask to fix
    </Button>
  )
}
