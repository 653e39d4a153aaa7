import { useQuery } from '@tanstack/react-query'
import type { MemorySwitches } from '@outlast/sdk'
import { complain } from '@/components/toast'
import { client, queryClient } from '@/lib/queries'
import { switchesQuery } from './memories'

/** Whether agents remember: in the project, and in the person's own runs. */
export function Switches({ projectId, ownsProject }: { projectId: string; ownsProject: boolean }) {
  const { data } = useQuery(switchesQuery(projectId))
  if (data === undefined) return null
  const { queryKey } = switchesQuery(projectId)
  const turn = (wanted: Partial<Pick<MemorySwitches, 'project' | 'person'>>) => {
    queryClient.setQueryData(queryKey, { ...data, ...wanted }) // shown at once
    return client.memories
      .turn(projectId, wanted)
      .catch(complain)
      .finally(() => queryClient.invalidateQueries({ queryKey: ['memory-switches'] }))
  }
  return (
    <fieldset className="mb-4 rounded-2xl border border-line bg-side px-4 py-3 sm:px-5">
      <legend className="sr-only">Switches</legend>
      {!data.server && (
        <p className="mb-2 text-warn">Memory is off on this server. You can read and delete what is stored.</p>
      )}
      <Switch
        label="Memory in this project"
        hint={ownsProject ? 'For the runs of all members.' : 'Only owners of the project change this.'}
        on={data.project}
        disabled={!ownsProject}
        onTurn={(project) => void turn({ project })}
      />
      <Switch
        label="Memory in your runs"
        hint="For the runs that you start, in all projects."
        on={data.person}
        onTurn={(person) => void turn({ person })}
      />
    </fieldset>
  )
}

interface SwitchProps {
  label: string
  hint: string
  on: boolean
  disabled?: boolean
  onTurn: (on: boolean) => void
}

const Switch = ({ label, hint, on, disabled = false, onTurn }: SwitchProps) => (
  <label className="flex items-start gap-2.5 py-1">
    <input
      type="checkbox"
      className="mt-1 size-4 shrink-0 accent-accent"
      checked={on}
      disabled={disabled}
      onChange={(event) => onTurn(event.target.checked)}
    />
    <span>
      <span className="font-medium">{label}</span> <span className="text-muted">{hint}</span>
    </span>
  </label>
)
