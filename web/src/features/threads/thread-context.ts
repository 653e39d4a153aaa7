import { createContext, useContext } from 'react'
import type { Role, Thread } from '@outlast/sdk'
import type { OpenThread } from './thread-page'

/** What stays the same while an answer streams, for the many small things on a page of messages. */
interface ThreadFacts {
  threadId: string
  role: Role | null
  /** False for viewers and in archived threads. */
  mayWrite: boolean
}

interface LiveThread {
  /** Changes with every event. */
  open: OpenThread
  thread: Thread
}

export const FactsContext = createContext<ThreadFacts | null>(null)
export const LiveContext = createContext<LiveThread | null>(null)

function must<T>(value: T | null): T {
  if (value === null) throw new Error('A thread\u2019s component is used outside of its page')
  return value
}

/** The thread that the page shows, as it changes. */
export const useOpenThread = (): LiveThread => must(useContext(LiveContext))

/** The few facts about it that seldom change. */
export const useThreadFacts = (): ThreadFacts => must(useContext(FactsContext))
