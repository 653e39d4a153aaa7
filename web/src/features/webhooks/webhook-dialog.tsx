import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewWebhook, Webhook } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input } from '@/components/field'
import { SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { byNoun, reload, webhookEventsQuery } from './webhooks'

interface WebhookDialogProps {
  projectId: string
  /** null: a new one. */
  webhook: Webhook | null
  onMade: (made: NewWebhook) => void
  onClose: () => void
}

/** Nouns that people know by another name. */
const NOUNS: Record<string, string> = { artifact: 'file' }
const USUAL = ['run.completed', 'run.error', 'approval.requested', 'question.asked']

/** Makes or changes a webhook: its address, and the events that are sent. */
export function WebhookDialog({ projectId, webhook, onMade, onClose }: WebhookDialogProps) {
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [title, setTitle] = useState(webhook?.title ?? '')
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? USUAL)
  const save = useMutation({
    mutationFn: async () => {
      const body = { url: url.trim(), title: title.trim(), events: [...events] }
      if (webhook === null) onMade(await client.webhooks.create(projectId, body))
      else await client.webhooks.change(webhook.id, body)
    },
    onSuccess: () => {
      void reload()
      onClose()
    },
  })
  return (
    <Dialog open onClose={onClose} title={webhook === null ? 'New webhook' : 'Edit webhook'}>
      <form className="space-y-4" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
        <Field label="Address" hint="Events are sent to it by POST, as JSON.">
          <Input
            type="url"
            required
            value={url}
            maxLength={2_000}
            placeholder="https://example.com/hooks"
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
        <Field label="Title (optional)">
          <Input
            value={title}
            maxLength={200}
            placeholder="Ticket system"
            onChange={(event) => setTitle(event.target.value)}
          />
        </Field>
        <Events chosen={events} onChange={setEvents} />
        {save.error !== null && <Problem error={save.error} />}
        <div className="sticky -bottom-5 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-raised px-5 py-3.5">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={save.isPending} disabled={events.length === 0}>
            {webhook === null ? 'Create webhook' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface EventsProps {
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}

function Events({ chosen, onChange }: EventsProps) {
  const { data, error, refetch } = useQuery(webhookEventsQuery)
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={4} className="h-6" />
  const set = (event: string, on: boolean) => onChange(on ? [...chosen, event] : chosen.filter((one) => one !== event))
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">Events</legend>
      <div className="divide-y divide-line rounded-xl border border-line">
        {byNoun(data.items).map(([noun, events]) => (
          <div key={noun} role="group" aria-label={noun} className="flex gap-3 px-3 py-2">
            <span className="w-18 shrink-0 py-1 text-muted capitalize">{NOUNS[noun] ?? noun}</span>
            <div className="flex min-w-0 flex-1 flex-wrap gap-x-4">
              {events.map((event) => (
                <label key={event} className="flex items-center gap-2 py-1 pointer-coarse:py-2">
                  <input
                    type="checkbox"
                    aria-label={event}
                    checked={chosen.includes(event)}
                    onChange={({ target }) => set(event, target.checked)}
                  />
                  {event.slice(noun.length + 1)}
                </label>
              ))}
            </div>
          </div>
        ))}
      </div>
    </fieldset>
  )
}
