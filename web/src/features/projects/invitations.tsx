import { useMutation, useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import type { Project, Role } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { CopyButton } from '@/components/copy'
import { Select } from '@/components/field'
import { Problem } from '@/components/problem'
import { complain } from '@/components/toast'
import { fullTime } from '@/lib/format'
import { client, invitationsQuery, queryClient } from '@/lib/queries'
import { ROLES } from './roles'

/** Creates invitation links; a link's token is shown once. */
export function Invitations({ project }: { project: Project }) {
  const [role, setRole] = useState<Role>('editor')
  const reload = () => queryClient.invalidateQueries({ queryKey: ['invitations', project.id] })
  const invite = useMutation({
    mutationFn: () => client.invite(project.id, { role }),
    onSuccess: reload,
  })
  const invitation = invite.data
  return (
    <section className="mt-5 border-t border-line pt-4">
      <h3 className="font-medium">Invite someone</h3>
      <div className="mt-2 flex gap-2">
        <Select
          aria-label="Role of the new member"
          className="min-w-0 flex-1"
          value={role}
          onChange={(event) => setRole(event.target.value as Role)}
        >
          {Object.entries(ROLES).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </Select>
        <Button look="primary" className="h-9" busy={invite.isPending} onClick={() => invite.mutate()}>
          Create link
        </Button>
      </div>
      {invite.error !== null && <Problem className="mt-3" error={invite.error} />}
      {invitation !== undefined && (
        <NewLink
          url={new URL(invitation.url, location.origin).href}
          role={invitation.role}
          until={invitation.expires_at}
        />
      )}
      <OpenInvitations project={project} onChange={reload} />
    </section>
  )
}

function NewLink({ url, role, until }: { url: string; role: Role; until: string | null }) {
  return (
    <div className="mt-3 rounded-xl border border-line bg-side p-3">
      <p className="text-muted">
        The first person to open this link joins as {role}. Copy it now: you won’t be able to see it again.
        {until !== null && ` It expires ${fullTime(until)}.`}
      </p>
      <div className="mt-2 flex items-center gap-2">
        <code className="min-w-0 flex-1 truncate rounded-lg border border-line bg-bg px-2.5 py-2 font-mono text-xs">
          {url}
        </code>
        <CopyButton text={url}>Copy link</CopyButton>
      </div>
    </div>
  )
}

function OpenInvitations({ project, onChange }: { project: Project; onChange: () => void }) {
  const { data } = useQuery(invitationsQuery(project.id))
  if (data === undefined || data.items.length === 0) return null
  return (
    <>
      <h3 className="mt-4 mb-1 text-xs font-medium text-faint">Open invitations</h3>
      <ul className="-mx-2">
        {data.items.map(({ id, role, name, expires_at }) => (
          <li key={id} className="flex items-center gap-2 rounded-lg px-2 py-1 hover:bg-hover">
            <span className="flex-1 truncate">
              {name == null || name === '' ? 'Link' : name} <span className="text-muted">as {role}</span>
            </span>
            {expires_at !== null && <span className="text-xs text-faint">until {fullTime(expires_at)}</span>}
            <IconButton
              label="Revoke invitation"
              size="icon-sm"
              onClick={() => void client.withdrawInvitation(id).then(onChange, complain)}
            >
              <X />
            </IconButton>
          </li>
        ))}
      </ul>
    </>
  )
}
