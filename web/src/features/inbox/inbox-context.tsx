import { createContext, useContext, useEffect, type ReactNode } from 'react'
import { useInbox as useItems, type InboxView } from '@outlast/sdk/react'
import { useActiveProject } from '../shell/active-project'

const Context = createContext<InboxView | null>(null)

/** The user's inbox across all projects; loaded once for all components that show it. */
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
    // Other projects send no events here, so the inbox is loaded again whenever the user returns to the page.
    if (live) refresh()
  }, [live, refresh])
  return <Context value={inbox}>{children}</Context>
}
