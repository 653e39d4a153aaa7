import { GitFork } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { IconButton } from '@/components/button'
import { complain, say } from '@/components/toast'
import { useApps, type Subject } from '@/lib/apps'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { subjectOf, threadHref } from './subjects'
import { patchThreads } from './threads'
import { useThreadFacts } from './thread-context'

interface ForkOptions {
  /** The last message that is copied; undefined: all are copied. */
  messageId?: string
  /** Nothing is copied: the new thread begins with a summary that an agent writes. */
  summary?: boolean
}

/** Forks the thread up to a message, or from a summary of its messages, and opens the fork. */
export function useFork(): [fork: (options?: ForkOptions) => void, busy: boolean] {
  const { threadId } = useThreadFacts()
  const apps = useApps()
  const [, navigate] = useLocation()
  const [busy, setBusy] = useState(false)
  const fork = ({ messageId, summary = false }: ForkOptions = {}) => {
    setBusy(true)
    const body = { ...(messageId !== undefined && { message_id: messageId }), ...(summary && { summary }) }
    once(`fork ${threadId} ${JSON.stringify(body)}`, (key) => client.fork(threadId, body, key))
      .then(async (forked) => {
        patchThreads(forked)
        const about = subjectOf(apps, forked)
        // The project's stream may deliver the copy after this answer.
        if (about !== null) await about.subject.load?.(about.id)
        say(summary ? 'Forked. A summary is being written.' : forkedText(about?.subject))
        navigate(threadHref(apps, forked))
      })
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return [fork, busy]
}

function forkedText(subject: Subject | undefined): string {
  if (subject === undefined) return 'Forked. This is the new thread.'
  const noun = subject.label.toLowerCase()
  return subject.forksAre === 'about a copy'
    ? `Forked. This is a copy of the ${noun}.`
    : 'Forked. This is your conversation.'
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
