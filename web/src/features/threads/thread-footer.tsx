import { useRef, useState, type ReactNode } from 'react'
import type { Message } from '@outlast/sdk'
import { Button } from '@/components/button'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { useReached } from '@/lib/time'
import { SnapshotNote } from '../sandboxes/snapshot-note'
import { useMe } from '../session/session-gate'
import { Composer, type Outgoing } from './composer'
import { HandOverRequest, LockedByOther, LockExpired } from './lock-banner'
import { lockState } from './lock-state'
import { keyFor } from './new-thread-page'
import { TypingLine, useTellTyping } from './presence'
import { patchThreads } from './thread-cache'
import { useOpenThread } from './thread-context'

/** Below the messages: the composer, or why there is none and what to do about it. */
export function Footer({ onSending }: { onSending: (message: Message | null) => void }) {
  const { thread } = useOpenThread()
  return (
    <div className="mx-auto w-full max-w-3xl px-3 pb-3 sm:px-5 sm:pb-4">
      <SnapshotNote projectId={thread.project_id} />
      <TypingLine />
      <Inner onSending={onSending} />
    </div>
  )
}

function Inner({ onSending }: { onSending: (message: Message | null) => void }) {
  const { open, thread } = useOpenThread()
  const me = useMe()
  const { lock, role } = open
  const state = lockState(lock, me.user.id, useReached(lock?.expires_at ?? null))
  if (role === 'viewer')
    return <Note>You are a viewer: you read and follow. Ask an owner for the editor role to write here.</Note>
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
      <Write onSending={onSending} />
    </>
  )
}

const Note = ({ children, action }: { children: ReactNode; action?: ReactNode }) => (
  <div className="flex flex-wrap items-center justify-center gap-3 rounded-2xl border border-line bg-side px-4 py-3 text-muted">
    <p>{children}</p>
    {action}
  </div>
)

function Write({ onSending }: { onSending: (message: Message | null) => void }) {
  const { open, thread } = useOpenThread()
  const { activeRun } = open
  const [keys] = useState(() => new Map<string, string>())
  const [stopping, setStopping] = useState(false)
  const sent = useRef(0)
  const tellTyping = useTellTyping()
  const send = async ({ content, images, model, on_busy }: Outgoing) => {
    const body = {
      content,
      ...(model !== null && { model }),
      ...(images.length > 0 && { images }),
      ...(on_busy && { on_busy }),
    }
    const unsaved = unsavedMessage(thread.id, content)
    onSending(unsaved)
    try {
      const key = keyFor(keys, `${sent.current} ${JSON.stringify(body)}`)
      const started = await client.startRun(thread.id, body, key)
      sent.current += 1
      onSending({ ...unsaved, id: started.message_id })
    } catch (error) {
      onSending(null)
      throw error
    }
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
      onStop={stop}
      stopping={stopping}
      onTyping={tellTyping}
      autoFocus
    />
  )
}

/** Stands for a message until the stream brings the saved one. */
function unsavedMessage(threadId: string, content: string): Message {
  return {
    id: 'sending',
    thread_id: threadId,
    position: Number.MAX_SAFE_INTEGER,
    role: 'user',
    sender_id: null,
    sender_name: null,
    status: 'complete',
    parts: [{ type: 'text', id: 'sending', step: 0, text: content }],
    model: null,
    run_id: null,
    credits: null,
    error: null,
    stop_reason: null,
    created_at: new Date().toISOString(),
  }
}
