import { Bell, BellOff, BellRing } from 'lucide-react'
import { Button } from '@/components/button'
import { Tip } from '@/components/tooltip'
import { say } from '@/components/toast'
import { useNotificationSetting } from './notifications'

/** The setting for browser notifications while the page is in the background. */
export function NotificationSetting() {
  const { state, turnOn, turnOff } = useNotificationSetting()
  if (state === 'unsupported') return null
  if (state === 'blocked')
    return (
      <Tip label="Your browser blocks notifications from this site. Allow them in the site settings, next to the address bar.">
        <span tabIndex={0} data-notify="blocked" className="flex items-center gap-1.5 px-2 text-xs text-faint">
          <BellOff className="size-3.5" aria-hidden />
          <span className="max-sm:sr-only">Notifications blocked</span>
        </span>
      </Tip>
    )
  if (state === 'on')
    return (
      <Button
        size="sm"
        look="ghost"
        data-notify="on"
        aria-pressed
        title="You get a notification about new items while this page is in the background. Click to turn notifications off."
        onClick={() => (turnOff(), say('Notifications turned off'))}
      >
        <BellRing className="text-link" />
        Notifications on
      </Button>
    )
  return (
    <Button
      size="sm"
      data-notify="off"
      title="Get a notification about new items while this page is in the background"
      onClick={() => void turnOn()}
    >
      <Bell />
      Notify me
    </Button>
  )
}
