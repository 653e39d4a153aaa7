import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input, Select } from '@/components/field'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { reloadAccounts } from './accounts'
import { keep, nameFor } from './mcp'
import { secretsQuery } from './secrets'

const SIGN_IN = ' ' // no secret has this name

interface McpServerDialogProps {
  projectId: string
  onAdded: (serverId: string) => void
  onClose: () => void
}

/** Adds an MCP server, whose tools are then looked at. */
export function McpServerDialog({ projectId, onAdded, onClose }: McpServerDialogProps) {
  const secrets = useQuery(secretsQuery(projectId)).data?.items ?? []
  const [url, setUrl] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const [secret, setSecret] = useState('')
  const signsIn = secret === SIGN_IN
  const name = chosen ?? nameFor(url)
  const add = useMutation({
    mutationFn: () =>
      client.mcpServers.add(projectId, {
        name,
        url: url.trim(),
        ...(signsIn ? { login: 'user' } : secret !== '' && { secret }),
      }),
    onSuccess: (answer) => {
      keep(answer)
      void reloadAccounts()
      onClose()
      if (!signsIn) onAdded(answer.server.id)
    },
  })
  return (
    <Dialog open onClose={onClose} title="Add an MCP server" description="Its tools are listed next. You choose which.">
      <form className="space-y-4" onSubmit={(event) => (event.preventDefault(), add.mutate())}>
        <Field label="Address">
          <Input
            autoFocus
            type="url"
            value={url}
            maxLength={2_000}
            placeholder="https://mcp.linear.app/mcp"
            spellCheck={false}
            onChange={(event) => setUrl(event.target.value)}
          />
        </Field>
        <Field label="Name" hint="The first part of its tools' names, such as linear.create_issue.">
          <Input
            value={name}
            maxLength={24}
            spellCheck={false}
            onChange={(event) => setChosen(event.target.value.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-'))}
          />
        </Field>
        <Field
          label="Access"
          hint={
            signsIn
              ? 'Runs use the account of the person who started them. Connect yours next: it lists the tools.'
              : "A saved secret whose hosts include the server's. Only this server gets its value."
          }
        >
          <Select value={secret} onChange={(event) => setSecret(event.target.value)}>
            <option value="">It needs none</option>
            <option value={SIGN_IN}>Each person signs in</option>
            {secrets.map(({ id, name: one }) => (
              <option key={id}>{one}</option>
            ))}
          </Select>
        </Field>
        {add.error !== null && <Problem error={add.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={add.isPending} disabled={name === '' || url.trim() === ''}>
            Add server
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
