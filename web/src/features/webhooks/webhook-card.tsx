import { ChevronDown, MoreHorizontal, Pencil, Power, RefreshCw, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { NewWebhook, Webhook } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Menu, MenuItem, MenuLine } from '@/components/menu'
import { complain, say } from '@/components/toast'
import { TONES } from '@/components/tones'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { DeliveryList } from './delivery-list'
import { nameOf, reload, stateOf } from './webhooks'

interface WebhookCardProps {
  webhook: Webhook
  onEdit: () => void
  onSecret: (made: NewWebhook) => void
}

/** A webhook: where it sends what, its state, its actions, and its deliveries. */
export function WebhookCard({ webhook, onEdit, onSecret }: WebhookCardProps) {
  const [open, setOpen] = useState(false)
  const [asking, setAsking] = useState<'delete' | 'rotate' | null>(null)
  const name = nameOf(webhook)
  const [label, tone] = stateOf(webhook)
  const act = (work: Promise<unknown>, done = '') =>
    void work.then(() => {
      if (done !== '') say(done)
      return reload()
    }, complain)
  const test = () => {
    act(client.webhooks.test(webhook.id), 'Test event sent')
    setOpen(true)
  }
  return (
    <li data-webhook={webhook.id} className="rounded-2xl border border-line bg-raised">
      <div className="flex items-start gap-3 px-4 py-3.5 sm:px-5">
        <div className="min-w-0 flex-1">
          <h3 className="flex items-center gap-2.5">
            <span className="truncate font-medium">{name}</span>
            <span className={cn('shrink-0 text-xs font-medium', TONES[tone])}>{label}</span>
          </h3>
          <p className="mt-0.5 truncate text-xs text-muted" title={webhook.url}>
            {webhook.url}
          </p>
          <p className="mt-1.5 text-xs text-faint [overflow-wrap:anywhere]">{webhook.events.join(', ')}</p>
          {webhook.stopped_because !== null && (
            <p className="mt-1.5 text-xs text-danger">{webhook.stopped_because} Turn it on again when it is ready.</p>
          )}
        </div>
        <Menu
          align="end"
          trigger={
            <IconButton label={`Actions for ${name}`}>
              <MoreHorizontal />
            </IconButton>
          }
        >
          <MenuItem disabled={!webhook.enabled} onSelect={test}>
            <Send />
            Send test event
          </MenuItem>
          <MenuItem onSelect={onEdit}>
            <Pencil />
            Edit
          </MenuItem>
          <MenuItem onSelect={() => act(client.webhooks.change(webhook.id, { enabled: !webhook.enabled }))}>
            <Power />
            {webhook.enabled ? 'Turn off' : 'Turn on'}
          </MenuItem>
          <MenuItem onSelect={() => setAsking('rotate')}>
            <RefreshCw />
            New secret…
          </MenuItem>
          <MenuLine />
          <MenuItem danger onSelect={() => setAsking('delete')}>
            <Trash2 />
            Delete…
          </MenuItem>
        </Menu>
      </div>
      <Button
        look="ghost"
        className="h-9 w-full justify-start rounded-none border-t border-line px-4 text-[12.5px] last:rounded-b-2xl sm:px-5"
        aria-expanded={open}
        aria-label={`Deliveries of ${name}`}
        onClick={() => setOpen(!open)}
      >
        <ChevronDown className={cn('transition-transform', !open && '-rotate-90')} />
        Deliveries
        <Counts webhook={webhook} />
      </Button>
      {open && <DeliveryList webhook={webhook} />}
      <Confirm
        open={asking === 'delete'}
        onClose={() => setAsking(null)}
        title={`Delete ${name}?`}
        action="Delete"
        onConfirm={() => act(client.webhooks.delete(webhook.id), 'Deleted')}
      >
        Nothing more is sent, and its deliveries are deleted. This cannot be undone.
      </Confirm>
      <Confirm
        open={asking === 'rotate'}
        onClose={() => setAsking(null)}
        title="Create a new secret?"
        action="Create secret"
        onConfirm={() => act(client.webhooks.rotate(webhook.id).then(onSecret))}
      >
        For a day, requests are signed with the old secret too, so that you have time to replace it.
      </Confirm>
    </li>
  )
}

function Counts({ webhook: { pending, dead } }: { webhook: Webhook }) {
  return (
    <>
      {dead > 0 && <span className="font-normal text-danger">{plural(dead, 'failed', 'failed')}</span>}
      {pending > 0 && <span className="font-normal text-link">{plural(pending, 'pending', 'pending')}</span>}
    </>
  )
}
