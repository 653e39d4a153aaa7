import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import type { Delivery, Webhook } from '@outlast/sdk'
import { Button } from '@/components/button'
import { MoreButton } from '@/components/more-button'
import { SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { Select } from '@/components/field'
import { Countdown, Since } from '@/components/time'
import { complain, say } from '@/components/toast'
import { TONES } from '@/components/tones'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { deliveriesQuery, DELIVERY_STATES, reload, type StateFilter } from './webhooks'

/** The deliveries of a webhook, newest first. */
export function DeliveryList({ webhook }: { webhook: Webhook }) {
  const [state, setState] = useState<StateFilter>('all')
  const list = useInfiniteQuery(deliveriesQuery(webhook.id, state))
  const items = list.data?.pages.flatMap((page) => page.items)
  return (
    <div className="border-t border-line px-4 py-3 sm:px-5">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="State of the deliveries"
          value={state}
          onChange={(event) => setState(event.target.value as StateFilter)}
        >
          <option value="all">All</option>
          {Object.entries(DELIVERY_STATES).map(([name, [label]]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </Select>
        <span className="flex-1" />
        {webhook.enabled && webhook.dead > 0 && <ReplayAll webhook={webhook} />}
      </div>
      {list.error !== null && <Problem className="mt-3" error={list.error} retry={() => void list.refetch()} />}
      {items === undefined && list.error === null && (
        <div className="mt-3">
          <SkeletonRows rows={2} className="h-10" />
        </div>
      )}
      {items?.length === 0 && (
        <p className="py-5 text-center text-muted">
          {state === 'all' ? 'Nothing was sent yet.' : 'No deliveries in this state.'}
        </p>
      )}
      {items !== undefined && items.length > 0 && (
        <ul aria-label="Deliveries" className="mt-2 divide-y divide-line">
          {items.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} mayReplay={webhook.enabled} />
          ))}
        </ul>
      )}
      <MoreButton list={list} size="sm" label="Show older deliveries" className="mt-2" />
    </div>
  )
}

function ReplayAll({ webhook }: { webhook: Webhook }) {
  const replay = useMutation({
    mutationFn: () => client.webhooks.replayDead(webhook.id),
    onSuccess: ({ replayed }) => say(`${plural(replayed, 'delivery', 'deliveries')} will be sent again`),
    onError: complain,
    onSettled: reload,
  })
  return (
    <Button size="sm" busy={replay.isPending} onClick={() => replay.mutate()}>
      <RotateCcw />
      Replay all failed
    </Button>
  )
}

function DeliveryRow({ delivery, mayReplay }: { delivery: Delivery; mayReplay: boolean }) {
  const [open, setOpen] = useState(false)
  const replay = useMutation({
    mutationFn: () => client.webhooks.replay(delivery.id),
    onError: complain,
    onSettled: reload,
  })
  const [label, tone] = DELIVERY_STATES[delivery.state]
  return (
    <li data-delivery={delivery.id} data-state={delivery.state} className="py-2">
      <div className="flex items-center gap-3">
        <button
          className="min-w-0 flex-1 rounded-md text-left hover:text-link"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <span className="flex items-baseline gap-2.5">
            <span className="truncate font-medium">{delivery.event}</span>
            <span className={cn('shrink-0 text-xs', TONES[tone])}>{label}</span>
          </span>
          <span className="mt-0.5 flex flex-wrap gap-x-2 text-xs text-faint">
            <Since iso={delivery.created_at} />
            {delivery.tries > 1 && <span>{plural(delivery.tries, 'try', 'tries')}</span>}
            {delivery.state === 'delivered' && delivery.last_status !== null && (
              <span>answer {delivery.last_status}</span>
            )}
            {delivery.state === 'pending' && delivery.tries > 0 && delivery.next_try_at !== null && (
              <span>
                next try in <Countdown iso={delivery.next_try_at} />
              </span>
            )}
          </span>
        </button>
        {mayReplay && delivery.state !== 'pending' && (
          <Button
            size="sm"
            aria-label={`Replay ${delivery.event}`}
            busy={replay.isPending}
            onClick={() => replay.mutate()}
          >
            <RotateCcw />
            Replay
          </Button>
        )}
      </div>
      {delivery.reason !== null && delivery.state !== 'delivered' && (
        <p className={cn('mt-1 text-xs [overflow-wrap:anywhere]', TONES[tone])}>{delivery.reason}</p>
      )}
      {open && (
        <pre className="mt-2 max-h-72 overflow-auto rounded-lg border border-line bg-bg px-3 py-2 font-mono text-xs">
          {pretty(delivery.body)}
        </pre>
      )}
    </li>
  )
}

const pretty = (body: string): string => JSON.stringify(JSON.parse(body), null, 2)
