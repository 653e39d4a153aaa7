import { createContext, useContext } from 'react'
import type { Role, Thread } from '@outlast/sdk'
import type { useThread } from '@outlast/sdk/react'
import type { Outgoing, Unsaved } from './outgoing-message'

export type OpenThread = ReturnType<typeof useThread>

/** What stays the same while an answer streams, for the many small things on a page of messages. */
export interface ThreadFacts {
  threadId: string
  role: Role | null
  /** False for viewers and in archived threads. */
  mayWrite: boolean
  /** Which agent answers. */
  profile: string
  /** A page of its own, or a narrow panel beside something else. */
  look: 'page' | 'panel'
  /** Shows beside the thread what a run changed; null: a dialog shows it. */
  showChanges: ((runId: string) => void) | null
}

interface LiveThread {
  /** Changes with every event. */
  open: OpenThread
  thread: Thread
}

interface Sender {
  /** Resolves when the message is saved. */
  send: (message: Outgoing) => Promise<void>
  /** The message on its way to the server. */
  sending: Unsaved | null
}

export const FactsContext = createContext<ThreadFacts | null>(null)
export const LiveContext = createContext<LiveThread | null>(null)
export const SenderContext = createContext<Sender | null>(null)

function must<T>(value: T | null): T {
  if (value === null) throw new Error('A thread\u2019s component is used outside of its page')
  return value
}

/** The thread that the page shows, as it changes. */
export const useOpenThread = (): LiveThread => must(useContext(LiveContext))

/** The few facts about it that seldom change. */
export const useThreadFacts = (): ThreadFacts => must(useContext(FactsContext))

/** How a message is sent into it, from wherever one is offered. */
export const useSender = (): Sender => must(useContext(SenderContext))
