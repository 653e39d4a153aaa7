import { GitFork } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { IconButton } from '@/components/button'
import { complain, say } from '@/components/toast'
import { once } from '@/lib/intent'
import { client } from '@/lib/queries'
// oxlint-disable-next-line no-restricted-imports -- until apps register what they show in a thread
import { putScreen } from '@/apps/screens/canvas/screens'
// oxlint-disable-next-line no-restricted-imports -- until apps register what they show in a thread
import { putPage } from '@/apps/pages/pages'
import { patchThreads } from './thread-cache'
import { useThreadFacts } from './thread-context'
import { documentOf, hrefOf, pageOf, screenOf } from './thread-place'

interface ForkOptions {
  /** The last message that is copied; none: all are. */
  messageId?: string
  /** Nothing is copied: the new thread begins with a summary, which an agent writes. */
  summary?: boolean
}

/** Makes a thread of one's own from the messages up to a point, or from a summary of them, and opens it. */
export function useFork(): [fork: (options?: ForkOptions) => void, busy: boolean] {
  const { threadId } = useThreadFacts()
  const [, navigate] = useLocation()
  const [busy, setBusy] = useState(false)
  const fork = ({ messageId, summary = false }: ForkOptions = {}) => {
    setBusy(true)
    const body = { ...(messageId !== undefined && { message_id: messageId }), ...(summary && { summary }) }
    once(`fork ${threadId} ${JSON.stringify(body)}`, (key) => client.fork(threadId, body, key))
      .then(async (forked) => {
        patchThreads(forked)
        const [screen, page] = [screenOf(forked), pageOf(forked)]
        // The canvas knows its screens from a stream that may bring the new one later than this answer.
        if (screen !== null) putScreen(await client.screens.get(screen))
        if (page !== null) putPage(await client.pages.get(page))
        say(summary ? 'Forked. What was said is being summed up.' : `Forked. You are ${whereOf(forked)}.`)
        navigate(hrefOf(forked))
      })
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return [fork, busy]
}

function whereOf(forked: Parameters<typeof screenOf>[0]): string {
  if (screenOf(forked) !== null) return 'on a copy of the screen'
  if (pageOf(forked) !== null) return 'on a copy of the page'
  return documentOf(forked) === null ? 'in the new thread' : 'in a conversation of your own'
}

export function ForkButton({ messageId }: { messageId: string }) {
  const { role } = useThreadFacts()
  const [fork, busy] = useFork()
  if (role === 'viewer') return null
  return (
    <IconButton label="Fork from here" size="icon-sm" busy={busy} onClick={() => fork({ messageId })}>
      {!busy && <GitFork />}
    </IconButton>
  )
}
