import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Agent, Project, ProjectAgents } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, TextArea } from '@/components/field'
import { SkeletonRows } from '@/components/placeholders'
import { Problem } from '@/components/problem'
import { agentsQuery, client, projectAgentsQuery, queryClient } from '@/lib/queries'
import { AgentIcon } from '../threads/agent-select'

const MAX_CHARS = 8_000

interface AgentsDialogProps {
  project: Project
  onClose: () => void
}

/** Which agents may be used in a project, and what all of them read. Only owners change it. */
export function AgentsDialog(props: AgentsDialogProps) {
  const { project, onClose } = props
  return (
    <Dialog open onClose={onClose} title={`Agents of ${project.name}`}>
      <Loaded {...props} />
    </Dialog>
  )
}

function Loaded({ project, onClose }: AgentsDialogProps) {
  const settings = useQuery(projectAgentsQuery(project.id))
  const agents = useQuery(agentsQuery(project.id))
  const error = settings.error ?? agents.error
  if (error !== null) return <Problem error={error} retry={() => void (settings.refetch(), agents.refetch())} />
  if (settings.data === undefined || agents.data === undefined) return <SkeletonRows rows={3} className="h-10" />
  return <Form project={project} agents={agents.data.items} saved={settings.data} onClose={onClose} />
}

interface FormProps {
  project: Project
  agents: readonly Agent[]
  saved: ProjectAgents
  onClose: () => void
}

function Form({ project, agents, saved, onClose }: FormProps) {
  const [allowed, setAllowed] = useState(saved.allowed)
  const [instructions, setInstructions] = useState(saved.instructions)
  const owner = project.role === 'owner'
  const save = useMutation({
    mutationFn: () => client.changeProjectAgents(project.id, { allowed, instructions }),
    onSuccess: (changed) => {
      queryClient.setQueryData(projectAgentsQuery(project.id).queryKey, changed)
      void queryClient.invalidateQueries({ queryKey: ['agents', project.id] })
      onClose()
    },
  })
  const names = agents.map(({ name }) => name)
  const toggle = (name: string, on: boolean) => setAllowed(toggled(allowed, names, name, on))
  return (
    <form className="space-y-4" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
      <fieldset disabled={!owner}>
        <legend className="mb-1.5 font-medium">Allowed agents</legend>
        {agents.map((agent) => (
          <label key={agent.name} className="flex items-start gap-2.5 rounded-lg px-1 py-1.5">
            <input
              type="checkbox"
              className="mt-1"
              checked={allowed === null || allowed.includes(agent.name)}
              onChange={(event) => toggle(agent.name, event.target.checked)}
            />
            <AgentIcon icon={agent.icon} />
            <span className="min-w-0 flex-1">
              {agent.title}
              {agent.description !== '' && <span className="block text-xs text-muted">{agent.description}</span>}
            </span>
          </label>
        ))}
      </fieldset>
      <Field label="Instructions" hint="Every agent of this project reads them, from the next run on.">
        <TextArea
          rows={6}
          value={instructions}
          maxLength={MAX_CHARS}
          readOnly={!owner}
          placeholder="We sell bicycles. Prices are in euros."
          onChange={(event) => setInstructions(event.target.value)}
        />
      </Field>
      {save.error !== null && <Problem error={save.error} />}
      {owner ? (
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={save.isPending}>
            Save
          </Button>
        </div>
      ) : (
        <p className="text-xs text-muted">Owners of the project can change this.</p>
      )}
    </form>
  )
}

/** The allowed agents after one was switched. All of them are null, so that agents that are added later are allowed
 * too. Pure. */
export function toggled(
  allowed: readonly string[] | null,
  names: readonly string[],
  name: string,
  on: boolean,
): string[] | null {
  const before = allowed ?? names
  const after = on ? [...before, name] : before.filter((one) => one !== name)
  return names.every((one) => after.includes(one)) ? null : after
}
