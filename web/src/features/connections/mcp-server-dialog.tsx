import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input, Select } from '@/components/field'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { useMe } from '../session/session-gate'
import { reloadAccounts } from './accounts'
import { commandIn, keep, nameFor } from './mcp'
import { OnlyForMe } from './only-for-me'
import { hostsIn, secretsQuery } from './secrets'

const SIGN_IN = ' ' // no secret has this name

interface McpServerDialogProps {
  projectId: string
  /** Whether the person may add one for the whole project, too. */
  mayManage: boolean
  onAdded: (serverId: string) => void
  onClose: () => void
}

/** Adds an MCP server, whose tools are then looked at. */
export function McpServerDialog({ projectId, mayManage, onAdded, onClose }: McpServerDialogProps) {
  const secrets = useQuery(secretsQuery(projectId)).data?.items ?? []
  const [url, setUrl] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const [secret, setSecret] = useState('')
  const [hosts, setHosts] = useState('')
  const [own, setOwn] = useState(!mayManage)
  const [everywhere, setEverywhere] = useState(false)
  const { user } = useMe()
  const forAll = everywhere && !own
  const command = commandIn(url)
  const signsIn = secret === SIGN_IN && command === null
  const key = secret === SIGN_IN ? '' : secret
  const name = chosen ?? nameFor(url)
  const add = useMutation({
    mutationFn: () =>
      client.mcpServers.add(
        forAll ? null : projectId,
        command === null
          ? { name, own, url: url.trim(), ...(signsIn ? { login: 'user' } : key !== '' && { secret: key }) }
          : { name, own, package: command, hosts: hostsIn(hosts), secrets: key === '' ? [] : [key] },
      ),
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
        <Field label="Address" hint="Or a package to run in a sandbox: npx -y @scope/package, or uvx package.">
          <Input
            autoFocus
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
        <OnlyForMe own={own} onOwn={mayManage ? setOwn : null}>
          Only for me: in the runs that I start, in every project
        </OnlyForMe>
        {user.is_admin && !own && (
          <OnlyForMe own={everywhere} onOwn={setEverywhere}>
            For every project of this server
          </OnlyForMe>
        )}
        {command !== null && (
          <Field label="Hosts" hint="Where the package may go. Leave it empty for no network.">
            <Input
              value={hosts}
              placeholder="api.example.com"
              spellCheck={false}
              onChange={(event) => setHosts(event.target.value)}
            />
          </Field>
        )}
        <Field
          label="Access"
          hint={
            command !== null
              ? 'A saved secret. The package gets a placeholder, and may reach the hosts of the secret.'
              : signsIn
                ? 'Runs use the account of the person who started them. Connect yours next: it lists the tools.'
                : "A saved secret whose hosts include the server's. Only this server gets its value."
          }
        >
          <Select value={signsIn ? SIGN_IN : key} onChange={(event) => setSecret(event.target.value)}>
            <option value="">It needs none</option>
            {command === null && <option value={SIGN_IN}>Each person signs in</option>}
            {secrets
              .filter(({ project_id }) => !forAll || project_id === null)
              .map(({ id, name: one }) => (
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
