import { useMutation, useQuery } from '@tanstack/react-query'
import { UserMinus } from 'lucide-react'
import { useState } from 'react'
import type { ListedMember, Project, Role } from '@outlast/sdk'
import { IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Dialog } from '@/components/dialog'
import { Select } from '@/components/field'
import { Problem } from '@/components/problem'
import { SkeletonRows } from '@/components/placeholders'
import { plural } from '@/lib/format'
import { client, membersQuery, queryClient } from '@/lib/queries'
import { useMe } from '../session/session-gate'
import { Avatar } from '../shell/avatar'
import { Invitations } from './invitations'
import { ROLES } from './roles'

interface MembersDialogProps {
  project: Project
  open: boolean
  onClose: () => void
}

export function MembersDialog({ project, open, onClose }: MembersDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title={`Members of ${project.name}`}>
      <Members project={project} />
      {project.role === 'owner' && <Invitations project={project} />}
    </Dialog>
  )
}

function Members({ project }: { project: Project }) {
  const { data, error, refetch } = useQuery(membersQuery(project.id))
  const [leaving, setLeaving] = useState<ListedMember | null>(null)
  const reload = () => queryClient.invalidateQueries({ queryKey: ['members', project.id] })
  const change = useMutation({
    mutationFn: ({ user, role }: { user: string; role: Role }) => client.changeRole(project.id, user, role),
    onSettled: reload,
  })
  const remove = useMutation({ mutationFn: (user: string) => client.removeMember(project.id, user), onSettled: reload })
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={3} className="h-10" />
  const failure = change.error ?? remove.error
  return (
    <>
      <ul className="-mx-2">
        {data.items.map((member) => (
          <MemberRow
            key={member.user_id}
            member={member}
            mayManage={project.role === 'owner'}
            onRole={(role) => change.mutate({ user: member.user_id, role })}
            onRemove={() => setLeaving(member)}
          />
        ))}
      </ul>
      {failure !== null && <Problem className="mt-2" error={failure} />}
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={`Remove ${leaving?.name ?? ''}?`}
        action="Remove"
        onConfirm={() => leaving !== null && remove.mutate(leaving.user_id)}
      >
        They lose access to every thread of this project immediately. Their messages and comments stay.
      </Confirm>
    </>
  )
}

interface MemberRowProps {
  member: ListedMember
  mayManage: boolean
  onRole: (role: Role) => void
  onRemove: () => void
}

function MemberRow({ member, mayManage, onRole, onRemove }: MemberRowProps) {
  const me = useMe()
  return (
    <li className="flex items-center gap-2.5 rounded-lg px-2 py-1.5 hover:bg-hover">
      <Avatar name={member.name} id={member.user_id} />
      <span className="min-w-0 flex-1 truncate">
        {member.name}
        {member.user_id === me.user.id && <span className="text-faint"> (you)</span>}
      </span>
      {member.plan !== null && (
        <span className="text-xs text-faint max-sm:hidden">
          {member.plan}
          {member.balance !== null && `, ${plural(member.balance, 'credit')}`}
        </span>
      )}
      {mayManage ? (
        <>
          <Select
            aria-label={`Role of ${member.name}`}
            className="h-8 max-w-36"
            value={member.role}
            onChange={(event) => onRole(event.target.value as Role)}
          >
            {Object.keys(ROLES).map((role) => (
              <option key={role} value={role}>
                {role}
              </option>
            ))}
          </Select>
          <IconButton label={`Remove ${member.name}`} size="icon-sm" onClick={onRemove}>
            <UserMinus />
          </IconButton>
        </>
      ) : (
        <span className="text-muted">{member.role}</span>
      )}
    </li>
  )
}
