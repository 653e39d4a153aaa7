import { complain } from '@/components/toast'
import { client } from '@/lib/queries'

/** Opens a screen's app by itself. The window is opened by the click, or the browser would take it for an advertisement. */
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
