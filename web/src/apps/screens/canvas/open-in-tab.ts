import { complain } from '@/components/toast'
import { client } from '@/lib/queries'

/** Opens a screen's app in a new tab. The click itself opens the window, or the browser would block it as a pop-up. */
export function openInTab(screenId: string): void {
  const tab = window.open('about:blank', '_blank')
  client.screens.preview(screenId).then(
    ({ ticket_url }) => {
      if (tab === null) return location.assign(ticket_url)
      tab.opener = null
      tab.location.replace(ticket_url)
    },
    (reason: Error) => (tab?.close(), complain(reason)),
  )
}
