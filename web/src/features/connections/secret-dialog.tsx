import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Secret } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { OnlyForMe } from './only-for-me'
import { hostsIn, reload } from './secrets'
import { ValueField } from './value-field'

interface SecretDialogProps {
  projectId: string
  /** Whose hosts are changed; null: a new one. */
  secret: Secret | null
  /** Whether the person may save one for the whole project, too. */
  mayManage: boolean
  onClose: () => void
}

/** Makes a secret, or changes the hosts of one. */
export function SecretDialog({ projectId, secret, mayManage, onClose }: SecretDialogProps) {
  const [name, setName] = useState(secret?.name ?? '')
  const [hosts, setHosts] = useState(secret?.hosts.join(', ') ?? '')
  const [shared, setShared] = useState(secret === null || secret.has_value)
  const [own, setOwn] = useState(secret === null && !mayManage)
  const [value, setValue] = useState('')
  const asksValue = shared || own
  const save = useMutation({
    mutationFn: () => {
      const body = { hosts: hostsIn(hosts), ...(asksValue && { value }) }
      if (secret === null && own) return client.secrets.createOwn({ name, hosts: body.hosts, value })
      return secret === null
        ? client.secrets.create(projectId, { name, ...body })
        : client.secrets.change(secret.id, body)
    },
    onSuccess: () => (void reload(), onClose()),
  })
  const ready = name !== '' && hostsIn(hosts).length > 0 && (!asksValue || value.trim() !== '')
  return (
    <Dialog open onClose={onClose} title={secret === null ? 'New secret' : `Hosts of ${secret.name}`}>
      <form className="space-y-4" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
        {secret === null && (
          <Field label="Name" hint="Code reads it from the environment variable of this name.">
            <Input
              autoFocus
              value={name}
              maxLength={80}
              placeholder="LINEAR_API_KEY"
              className="font-mono"
              spellCheck={false}
              onChange={(event) => setName(event.target.value.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_'))}
            />
          </Field>
        )}
        <Field
          label="Hosts"
          hint={
            secret === null
              ? 'Where code may go, and where the value is sent. Separate several with commas.'
              : 'With other hosts, values have to be entered again: they were meant for the earlier ones.'
          }
        >
          <Input
            value={hosts}
            autoFocus={secret !== null}
            placeholder="api.linear.app"
            spellCheck={false}
            onChange={(event) => setHosts(event.target.value)}
          />
        </Field>
        {secret === null && (
          <OnlyForMe own={own} onOwn={mayManage ? setOwn : null}>
            Only for me: in the runs that I start, in every project
          </OnlyForMe>
        )}
        {secret === null && !own && <Whose shared={shared} onShared={setShared} />}
        {asksValue && <ValueField value={value} onChange={setValue} />}
        {save.error !== null && <Problem error={save.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={save.isPending} disabled={!ready}>
            {secret === null ? 'Save secret' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Whose({ shared, onShared }: { shared: boolean; onShared: (shared: boolean) => void }) {
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1.5 font-medium">Whose value</legend>
      {[true, false].map((one) => (
        <label key={String(one)} className="flex items-center gap-2 pointer-coarse:py-1">
          <input
            type="radio"
            name="whose"
            className="accent-accent"
            checked={shared === one}
            onChange={() => onShared(one)}
          />
          {one ? 'One value for everybody in the project' : 'Each person enters their own'}
        </label>
      ))}
    </fieldset>
  )
}
