import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schedule, ScheduleRequest } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input, Select, TextArea } from '@/components/field'
import { Problem } from '@/components/problem'
import { once } from '@/lib/idempotent-request'
import { client, modelsQuery } from '@/lib/queries'
import { useAgents } from '../threads/agent-choice'
import { refreshSchedules } from './schedules'
import { cronOf, firstChoice, ownZone, whenOf } from './when'
import { WhenField } from './when-field'

interface ScheduleDialogProps {
  projectId: string
  /** null: a new one. */
  schedule: Schedule | null
  onClose: () => void
}

/** Makes a schedule, or edits one. */
export function ScheduleDialog({ projectId, schedule, onClose }: ScheduleDialogProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={schedule === null ? 'New schedule' : 'Edit schedule'}
      description="An agent gets your message at the times you choose. Its runs start as you and use your credits."
      className="sm:top-[7vh] sm:ml-[-17rem] sm:max-h-[86vh] sm:w-[34rem]"
    >
      <ScheduleForm projectId={projectId} schedule={schedule} onClose={onClose} />
    </Dialog>
  )
}

const EMPTY = { title: '', agent: '', message: '', model: null, on_missed: 'skip', thread: 'new' } as const

function ScheduleForm({ projectId, schedule, onClose }: ScheduleDialogProps) {
  const agents = useAgents(projectId)
  const models = useQuery(modelsQuery).data?.items ?? []
  const [fields, setFields] = useState<Omit<ScheduleRequest, 'cron' | 'zone' | 'enabled'>>(schedule ?? EMPTY)
  const [when, setWhen] = useState(() => (schedule === null ? firstChoice() : whenOf(schedule.cron)))
  const [zone, setZone] = useState(schedule?.zone ?? ownZone())
  const put = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }))
  const agent = fields.agent === '' ? (agents.find(({ usable }) => usable)?.name ?? '') : fields.agent
  const save = useMutation({
    mutationFn: () => {
      const { title, message, model, on_missed, thread } = fields
      const body = { title, agent, message, model, on_missed, thread, cron: cronOf(when).trim(), zone }
      if (schedule !== null) return client.schedules.change(schedule.id, body)
      return once(`schedule ${projectId} ${JSON.stringify(body)}`, (key) =>
        client.schedules.create(projectId, body, key),
      )
    },
    onSuccess: () => {
      void refreshSchedules(projectId)
      onClose()
    },
  })
  return (
    <form className="space-y-4" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
      <div className="grid gap-4 sm:grid-cols-[3fr_2fr]">
        <Field label="Title">
          <Input
            autoFocus={schedule === null}
            required
            maxLength={200}
            placeholder="Morning summary"
            value={fields.title}
            onChange={({ target }) => put({ title: target.value })}
          />
        </Field>
        <Field label="Agent">
          <Select className="w-full" value={agent} onChange={({ target }) => put({ agent: target.value })}>
            {agents.every(({ name }) => name !== agent) && <option value={agent}>{agent}</option>}
            {agents.map(({ name, title, icon, usable }) => (
              <option key={name} value={name} disabled={!usable}>
                {icon === '' ? title : `${icon} ${title}`}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      <Field label="Message" hint="What the agent gets each time. An agent that is a flow needs none.">
        <TextArea
          rows={3}
          placeholder="Sum up what changed since yesterday."
          value={fields.message ?? ''}
          onChange={({ target }) => put({ message: target.value })}
        />
      </Field>
      <WhenField when={when} zone={zone} onWhen={setWhen} onZone={setZone} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Each run">
          <Select
            className="w-full"
            value={fields.thread}
            onChange={({ target }) => put({ thread: target.value === 'same' ? 'same' : 'new' })}
          >
            <option value="new">starts a new thread</option>
            <option value="same">continues in one thread</option>
          </Select>
        </Field>
        <Field label="If the server was off">
          <Select
            className="w-full"
            value={fields.on_missed}
            onChange={({ target }) => put({ on_missed: target.value === 'one' ? 'one' : 'skip' })}
          >
            <option value="skip">skip what was missed</option>
            <option value="one">run once when it is back</option>
          </Select>
        </Field>
        <Field label="Model">
          <Select
            className="w-full"
            value={fields.model ?? ''}
            onChange={({ target }) => put({ model: target.value === '' ? null : target.value })}
          >
            <option value="">Default</option>
            {models.map(({ id, label, available }) => (
              <option key={id} value={id} disabled={!available}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      {save.error !== null && <Problem error={save.error} />}
      <div className="sticky -bottom-5 z-10 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-raised px-5 py-3.5 sm:rounded-b-2xl">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={save.isPending} disabled={agent === ''}>
          {schedule === null ? 'Create schedule' : 'Save'}
        </Button>
      </div>
    </form>
  )
}
