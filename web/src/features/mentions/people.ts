/** The people that a text in a project can mention: its members, and the agent. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { membersQuery } from '@/lib/queries'
import { AGENT, type Mentionable } from './mention-text'

const NO_PEOPLE: Mentionable[] = []

/** The members, by name. */
function useMembers(projectId: string): Mentionable[] {
  const { data } = useQuery({ ...membersQuery(projectId), staleTime: 60_000 })
  return useMemo(() => data?.items.map(({ user_id, name }) => ({ id: user_id, name })) ?? NO_PEOPLE, [data])
}

/** The name of a member; undefined for a user who is not one, and until loaded. */
export const useMemberName = (projectId: string, userId: string): string | undefined =>
  useMembers(projectId).find(({ id }) => id === userId)?.name

/** The members that something can be assigned to: owners and editors. */
export function useEditors(projectId: string): Mentionable[] {
  const { data } = useQuery({ ...membersQuery(projectId), staleTime: 60_000 })
  return useMemo(
    () =>
      data?.items.flatMap(({ user_id, name, role }) => (role === 'viewer' ? [] : [{ id: user_id, name }])) ?? NO_PEOPLE,
    [data],
  )
}

/** The agent first, then the members. */
export function useMentionable(projectId: string): Mentionable[] {
  const members = useMembers(projectId)
  return useMemo(() => [AGENT, ...members], [members])
}
