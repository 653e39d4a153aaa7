import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Hook, NewHook } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input, Select, TextArea } from '@/components/field'
import { Problem } from '@/components/problem'
import { agentsQuery, client } from '@/lib/queries'
import { reload } from './webhooks'

interface HookDialogProps {
  projectId: string
  /** null: a new one. */
  hook: Hook | null
  onMade: (made: NewHook) => void
  onClose: () => void
}

/** Makes or changes an incoming webhook: its message, its agent and its threads. */
export function HookDialog({ projectId, hook, onMade, onClose }: HookDialogProps) {
  const agents = useQuery(agentsQuery(projectId)).data?.items.filter(({ usable }) => usable) ?? []
  const [title, setTitle] = useState(hook?.title ?? '')
  const [template, setTemplate] = useState(hook?.template ?? '')
  const [profile, setProfile] = useState(hook?.profile ?? null)
  const [thread, setThread] = useState<Hook['thread']>(hook?.thread ?? 'new')
  const save = useMutation({
    mutationFn: async () => {
      const body = { title: title.trim(), template, profile, thread }
      if (hook === null) onMade(await client.hooks.create(projectId, body))
      else await client.hooks.change(hook.id, body)
    },
    onSuccess: () => {
      void reload()
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={hook === null ? 'New address' : 'Edit incoming webhook'}
      description={hook === null ? 'Its runs are started as you, with your rights and credits.' : undefined}
    >
      <form className="space-y-4" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
        <Field label="Title">
          <Input
            required
            value={title}
            maxLength={200}
            placeholder="New tickets"
            onChange={(event) => setTitle(event.target.value)}
          />
        </Field>
        <Field
          label="Message"
          hint="Write {{ ticket.title }} where a value of the request’s JSON belongs, or {{ payload }} for all of it."
        >
          <TextArea
            required
            rows={5}
            value={template}
            maxLength={8_000}
            placeholder={'Sort this ticket and suggest an answer.\n\n{{ ticket.title }}\n{{ ticket.text }}'}
            onChange={(event) => setTemplate(event.target.value)}
          />
        </Field>
        <div className="flex flex-wrap gap-4 [&>label]:min-w-40 [&>label]:flex-1">
          <Field label="Agent">
            <Select
              className="w-full"
              value={profile ?? agents.find((one) => one.default)?.name ?? ''}
              onChange={(event) => setProfile(event.target.value)}
            >
              {agents.map((agent) => (
                <option key={agent.name} value={agent.name}>
                  {agent.title}
                </option>
              ))}
            </Select>
          </Field>
          <Field label="Thread">
            <Select
              className="w-full"
              value={thread}
              onChange={(event) => setThread(event.target.value as Hook['thread'])}
            >
              <option value="new">A new one for each request</option>
              <option value="same">One for all requests</option>
            </Select>
          </Field>
        </div>
        {save.error !== null && <Problem error={save.error} />}
        <div className="sticky -bottom-5 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-raised px-5 py-3.5">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={save.isPending}>
            {hook === null ? 'Create address' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
