import { useState, type ReactNode } from 'react'
import { Button } from '@/components/button'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { useReached } from '@/lib/time'
import { SnapshotNote } from '../sandboxes/snapshot-note'
import { useMe } from '../session/session-gate'
import { useAgents } from './agent-choice'
import { Composer } from './composer'
import type { ComposerInserts } from './composer-inserts'
import { ContextGauge } from './context-gauge'
import { HandOverRequest, LockedByOther, LockExpired } from './lock-banner'
import { LockChip } from './lock-chip'
import { lockState } from './lock-state'
import { TypingLine, Watching } from './presence'
import type { Outgoing } from './outgoing-message'
import { patchThreads } from './threads'
import { QueueTray } from './queue-tray'
import { useOpenThread, useSender, useThreadFacts } from './thread-context'
import { useTellTyping } from './use-typing'

interface ThreadFooterProps {
  /** The placeholder of the message box. */
  placeholder?: string
  /** Text and elements that other parts of the page hand over to the message box. */
  handover?: ComposerInserts
  className?: string
}

/** Below the messages: the composer, or why you cannot write and what to do about it. */
export function ThreadFooter({ className, ...rest }: ThreadFooterProps) {
  const { thread } = useOpenThread()
  const { look } = useThreadFacts()
  return (
    <div className={cn('mx-auto w-full max-w-3xl px-3 pb-3', look === 'page' && 'sm:px-5 sm:pb-4', className)}>
      <SnapshotNote projectId={thread.project_id} />
      <div className="flex items-center gap-1">
        <TypingLine />
        <ContextGauge />
        {look === 'panel' && (
          <>
            <Watching />
            <LockChip />
          </>
        )}
      </div>
      <QueueTray />
      <Inner {...rest} />
    </div>
  )
}

function Inner(props: ThreadFooterProps) {
  const { open, thread } = useOpenThread()
  const me = useMe()
  const { lock, role } = open
  const state = lockState(lock, me.user.id, useReached(lock?.expires_at ?? null))
  if (role === 'viewer') return <Note>You are a viewer. To write here, ask an owner for the editor role.</Note>
  if (thread.status === 'archived')
    return (
      <Note
        action={
          <Button size="sm" onClick={() => void client.unarchive(thread.id).then(patchThreads, complain)}>
            Unarchive
          </Button>
        }
      >
        This thread is archived. It can be read and searched.
      </Note>
    )
  if (lock !== null && state === 'theirs') return <LockedByOther lock={lock} />
  if (lock !== null && state === 'expired') return <LockExpired lock={lock} />
  return (
    <>
      {lock !== null && lock.requested_by !== null && <HandOverRequest lock={lock} />}
      <Write {...props} />
    </>
  )
}

const Note = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <div className="flex flex-wrap items-center justify-center gap-3 rounded-2xl border border-line bg-side px-4 py-3 text-muted">
    <p>{children}</p>
    {action}
  </div>
)

function Write({ placeholder, handover }: ThreadFooterProps) {
  const { open, thread } = useOpenThread()
  const { send, sendNow } = useSender()
  const { activeRun } = open
  const [stopping, setStopping] = useState(false)
  const tellTyping = useTellTyping()
  const agents = useAgents(thread.project_id)
  const hasChoice = thread.anchor === null || agents.some(({ name }) => name === thread.profile)
  const chooseAgent = (name: string) => void client.chooseAgent(thread.id, name).then(patchThreads, complain)
  const post = async ({ content, images }: Outgoing) => {
    const body = { content, ...(images.length > 0 && { images }) }
    await once(`message ${thread.id} ${JSON.stringify(body)}`, (key) => client.postMessage(thread.id, body, key))
  }
  const stop = () => {
    if (activeRun === null) return
    setStopping(true)
    client
      .cancel(activeRun.run_id)
      .catch(complain)
      .finally(() => setStopping(false))
  }
  return (
    <Composer
      projectId={thread.project_id}
      draftKey={thread.id}
      busy={activeRun !== null}
      onSend={send}
      onSendNow={activeRun === null ? undefined : (message) => sendNow(message, activeRun.run_id)}
      onPost={post}
      onStop={stop}
      stopping={stopping}
      onTyping={tellTyping}
      placeholder={placeholder}
      handover={handover}
      {...(hasChoice && { agents: { agents, chosen: thread.profile, onChoose: chooseAgent } })}
      autoFocus
    />
  )
}
