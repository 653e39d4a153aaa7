import { GitFork } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Thread } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { complain, say } from '@/components/toast'
import { client } from '@/lib/queries'
import { putScreen } from '../canvas/screens'
import { patchThreads } from './thread-cache'
import { useThreadFacts } from './thread-context'

/** Makes a thread of one's own from the messages up to a point, and opens it. */
export function useFork(): [fork: (messageId?: string) => void, busy: boolean] {
  const { threadId } = useThreadFacts()
  const [, navigate] = useLocation()
  const [busy, setBusy] = useState(false)
  const fork = (messageId?: string) => {
    setBusy(true)
    client
      .fork(threadId, messageId === undefined ? {} : { message_id: messageId })
      .then(async (forked) => {
        patchThreads(forked)
        const screen = screenOf(forked)
        // The canvas knows its screens from a stream that may bring the new one later than this answer.
        if (screen !== null) putScreen(await client.screens.get(screen))
        say(screen === null ? 'Forked. You are in the new thread.' : 'Forked. You are on a copy of the screen.')
        navigate(screen === null ? `/threads/${forked.id}` : `/screens/${screen}`)
      })
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return [fork, busy]
}

/** The screen that a thread is about; null where it is about none. */
export function screenOf({ anchor }: Pick<Thread, 'anchor'>): string | null {
  const { type, id } = anchor ?? {}
  return type === 'screen' && typeof id === 'string' ? id : null
}

export function ForkButton({ messageId }: { messageId: string }) {
  const { role } = useThreadFacts()
  const [fork, busy] = useFork()
  if (role === 'viewer') return null
  return (
    <IconButton label="Fork from here" size="icon-sm" busy={busy} onClick={() => fork(messageId)}>
      {!busy && <GitFork />}
    </IconButton>
  )
}
