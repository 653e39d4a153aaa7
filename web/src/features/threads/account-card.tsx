import { useMutation } from '@tanstack/react-query'
import { Plug } from 'lucide-react'
import type { AccountData, Question } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { signIn } from '../connections/accounts'
import { useMe } from '../session/session-gate'
import { ClockNote } from './clock-note'
import { useOpenThread, useThreadFacts } from './thread-context'

/** A run waits until a person has connected their account on a server. It goes on by itself then. */
export function AccountCard({ question, account }: { question: Question; account: AccountData }) {
  const { open } = useOpenThread()
  const { mayWrite } = useThreadFacts()
  const isMine = useMe().user.id === account.user_id
  const run = open.runs[question.run_id]
  const connect = useMutation({ mutationFn: () => signIn(account.server_id) })
  const decline = useMutation({
    mutationFn: () =>
      client.answer(
        question.id,
        Object.fromEntries(question.questions.map(({ id, options }) => [id, options[0] ?? 'No'])),
      ),
  })
  const error = connect.error ?? decline.error
  return (
    <section
      aria-label={`Connect ${account.server}`}
      data-question={question.id}
      className="overflow-hidden rounded-xl border border-line-strong bg-raised"
    >
      <header className="flex items-center gap-2.5 border-b border-line bg-accent-soft px-3.5 py-2.5">
        <Plug className="size-4.5 shrink-0 text-link" aria-hidden />
        <h2 className="flex-1 font-medium">Connect {account.server}</h2>
        {run !== undefined && run.status === 'awaiting_approval' && (
          <ClockNote run={run} className="shrink-0 text-right text-xs text-muted" />
        )}
      </header>
      <div className="space-y-4 p-3.5">
        <p className="text-[14.5px]">
          {isMine
            ? `The agent needs your account on ${account.host}. You sign in there in a new tab, and the run goes on by itself.`
            : `The agent waits until the person who started this run has connected their account on ${account.host}.`}
        </p>
        {error !== null && <Problem error={error} />}
        {mayWrite && (
          <div className="flex gap-2">
            {isMine && (
              <Button look="primary" busy={connect.isPending} onClick={() => connect.mutate()}>
                Connect
              </Button>
            )}
            <Button busy={decline.isPending} onClick={() => decline.mutate()}>
              Continue without it
            </Button>
          </div>
        )}
      </div>
    </section>
  )
}
