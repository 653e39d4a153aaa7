import { useMutation } from '@tanstack/react-query'
import { Bot, CircleAlert, Eye, LoaderCircle, Lock, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ScreenData, Thread } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { useAskAgent } from './ask-agent'
import { useEditing } from './edit-context'
import { fixPrompt } from './prompts'

const Banner = ({ icon, children, action }: { icon: ReactNode; children: ReactNode; action?: ReactNode }) => (
  <div
    role="status"
    className="flex items-center gap-2.5 border-b border-line bg-side px-4 py-2 text-[13px] text-muted [&_svg]:size-4 [&_svg]:shrink-0"
  >
    {icon}
    <p className="min-w-0 flex-1">{children}</p>
    {action}
  </div>
)

export const ViewersLook = () => (
  <Banner icon={<Eye aria-hidden />}>You have read-only access. Editors of the project can make changes.</Banner>
)

export const LockedBy = ({ lock }: { lock: NonNullable<Thread['lock']> }) => (
  <Banner icon={<Lock aria-hidden />}>
    Locked by {lock.holder_name}. You can try changes; they can be saved once the lock is free.
  </Banner>
)

/** While the agent works on the files, manual edits cannot be saved. */
export function AgentAtWork({ screen, runId }: { screen: ScreenData; runId: string }) {
  const cancel = useMutation({ mutationFn: () => client.cancel(runId) })
  return (
    <>
      <Banner
        icon={<LoaderCircle className="animate-spin" aria-hidden />}
        action={
          <Button size="sm" busy={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel run
          </Button>
        }
      >
        {screen.state === 'waiting' ? 'The agent is waiting for an answer.' : 'The agent is working.'} You can try
        changes and save them when it has finished.
      </Banner>
      {cancel.error !== null && <Problem className="m-3" error={cancel.error} />}
    </>
  )
}

/** The last error on the page. */
export function PageTrouble() {
  const { edit } = useEditing()
  const askAgent = useAskAgent()
  const last = edit.pageErrors.at(-1)
  if (last === undefined) return null
  return (
    <div role="alert" className="flex items-start gap-2.5 border-b border-line bg-danger-soft px-4 py-2 text-[13px]">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-danger" aria-hidden />
      <p className="line-clamp-3 min-w-0 flex-1 [overflow-wrap:anywhere]">Error on the page: {last.message}</p>
      <Button size="sm" onClick={() => askAgent({ text: fixPrompt(last) })}>
        <Bot />
        Fix it
      </Button>
      <IconButton size="icon-sm" label="Dismiss" onClick={() => edit.session.dismissErrors()}>
        <X />
      </IconButton>
    </div>
  )
}
