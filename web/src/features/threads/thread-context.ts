import { createContext, useContext } from 'react'
import type { Role, Thread } from '@outlast/sdk'
import type { useThread } from '@outlast/sdk/react'
import type { Outgoing, Unsaved } from './outgoing-message'

export type OpenThread = ReturnType<typeof useThread>

/** Facts that stay the same while an answer streams, for the many small components on a page of messages. */
export interface ThreadFacts {
  threadId: string
  role: Role | null
  /** False for viewers and in archived threads. */
  mayWrite: boolean
  /** The agent that answers. */
  profile: string
  /** A full page, or a narrow panel next to something else. */
  look: 'page' | 'panel'
  /** Shows the changes of a run next to the thread; null: in a dialog. */
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
  /** Sends a message to a run: its agent reads it before its next turn. If the run has ended, it is sent as usual. */
  sendNow: (message: Outgoing, runId: string) => Promise<void>
  /** The message that is being sent. */
  sending: Unsaved | null
}

export const FactsContext = createContext<ThreadFacts | null>(null)
export const LiveContext = createContext<LiveThread | null>(null)
export const SenderContext = createContext<Sender | null>(null)

function must<T>(value: T | null): T {
  if (value === null) throw new Error('A thread\u2019s component is used outside of its page')
  return value
}

/** The thread of the page, with live updates. */
export const useOpenThread = (): LiveThread => must(useContext(LiveContext))

/** Facts about the thread that seldom change. */
export const useThreadFacts = (): ThreadFacts => must(useContext(FactsContext))

/** Sends a message into the thread, from any component that offers it. */
export const useSender = (): Sender => must(useContext(SenderContext))
