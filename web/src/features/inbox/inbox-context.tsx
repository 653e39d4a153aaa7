import { createContext, useContext, useEffect, type ReactNode } from 'react'
import { useInbox as useItems, type InboxView } from '@outlast/sdk/react'
import { useActiveProject } from '../shell/active-project'

const Context = createContext<InboxView | null>(null)

/** What waits for oneself in all of one's projects; read once for everybody who shows it. */
export function useInbox(): InboxView {
  const inbox = useContext(Context)
  if (inbox === null) throw new Error('useInbox is called outside of the shell')
  return inbox
}

export function InboxProvider({ children }: { children: ReactNode }) {
  const inbox = useItems()
  const { connection } = useActiveProject()
  const { refresh } = inbox
  const live = connection.status === 'live'
  useEffect(() => {
    // Of the other projects nothing is heard: they are looked at whenever one comes back to the page.
    if (live) refresh()
  }, [live, refresh])
  return <Context value={inbox}>{children}</Context>
}
