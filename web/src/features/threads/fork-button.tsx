import { GitFork } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Thread } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { complain, say } from '@/components/toast'
import { client } from '@/lib/queries'
import { putScreen } from '../canvas/screens'
import { putPage } from '../pages/pages'
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
        const [screen, page] = [screenOf(forked), pageOf(forked)]
        // The canvas knows its screens from a stream that may bring the new one later than this answer.
        if (screen !== null) putScreen(await client.screens.get(screen))
        if (page !== null) putPage(await client.pages.get(page))
        const copied = screen !== null ? 'screen' : page !== null ? 'page' : null
        say(copied === null ? 'Forked. You are in the new thread.' : `Forked. You are on a copy of the ${copied}.`)
        navigate(screen !== null ? `/screens/${screen}` : page !== null ? `/pages/${page}` : `/threads/${forked.id}`)
      })
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return [fork, busy]
}

/** The screen that a thread is about; null where it is about none. */
export const screenOf = (thread: Pick<Thread, 'anchor'>): string | null => anchored(thread, 'screen')

/** The page that a thread is about; null where it is about none. */
export const pageOf = (thread: Pick<Thread, 'anchor'>): string | null => anchored(thread, 'page')

function anchored({ anchor }: Pick<Thread, 'anchor'>, noun: string): string | null {
  const { type, id } = anchor ?? {}
  return type === noun && typeof id === 'string' ? id : null
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
