import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Coins, Shield } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import type { UserSummary } from '@outlast/sdk'
import { SearchField } from '@/components/search-field'
import { IconButton } from '@/components/button'
import { Select } from '@/components/field'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { complain, say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { client, queryClient } from '@/lib/queries'
import { Avatar } from '../shell/avatar'
import { useMe } from '../session/session-gate'
import { GrantDialog } from './grant-dialog'
import { MoreButton } from '@/components/more-button'

const reload = () => queryClient.invalidateQueries({ queryKey: ['admin', 'users'] })

export function UserList() {
  const [q, setQ] = useState('')
  const wanted = useDeferredValue(q.trim())
  const [giving, setGiving] = useState<UserSummary | null>(null)
  const list = useInfiniteQuery({
    queryKey: ['admin', 'users', wanted],
    queryFn: ({ pageParam, signal }) => client.users({ q: wanted, after: pageParam, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    placeholderData: (before) => before,
  })
  const users = list.data?.pages.flatMap(({ items }) => items) ?? []
  const plans = list.data?.pages[0]?.plans ?? []
  return (
    <section aria-labelledby="users">
      <div className="mb-3 flex items-center gap-3">
        <h2 id="users" className="flex-1 text-[15px] font-semibold">
          Users
        </h2>
        <SearchField label="Search users" value={q} onChange={setQ} />
      </div>
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <SkeletonRows rows={4} className="h-12" />}
      {list.isSuccess && users.length === 0 && (
        <Empty title="No matching users">Check the spelling, or search for a shorter part of the name.</Empty>
      )}
      {users.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line">
          {users.map((user) => (
            <UserRow key={user.id} user={user} plans={plans} onGrant={() => setGiving(user)} />
          ))}
        </ul>
      )}
      <MoreButton look="ghost" list={list} />
      <GrantDialog user={giving} onClose={() => setGiving(null)} onGranted={reload} />
    </section>
  )
}

function UserRow({ user, plans, onGrant }: { user: UserSummary; plans: string[]; onGrant: () => void }) {
  const me = useMe()
  const change = useMutation({
    mutationFn: (values: { plan?: string; is_admin?: boolean }) => client.changeUser(user.id, values),
    onSuccess: (changed, values) =>
      say(values.plan === undefined ? adminNews(changed) : `${changed.name} is now on the plan ${changed.plan}`),
    onError: complain,
    onSettled: reload,
  })
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-2.5">
      <Avatar name={user.name} id={user.id} />
      <span className="min-w-32 flex-1 truncate font-medium">
        {user.name}
        {user.id === me.user.id && <span className="font-normal text-faint"> (you)</span>}
      </span>
      <span className="w-28 text-right text-muted tabular-nums">
        {user.balance === null ? 'Unlimited' : `${user.balance} credits`}
      </span>
      <Select
        aria-label={`Plan of ${user.name}`}
        className="h-8 max-w-32"
        value={user.plan}
        disabled={change.isPending}
        onChange={(event) => change.mutate({ plan: event.target.value })}
      >
        {(plans.includes(user.plan) ? plans : [user.plan, ...plans]).map((plan) => (
          <option key={plan}>{plan}</option>
        ))}
      </Select>
      <IconButton
        label={user.balance === null ? 'The plan is unlimited' : `Give ${user.name} credits`}
        disabled={user.balance === null}
        onClick={onGrant}
      >
        <Coins />
      </IconButton>
      <IconButton
        label={
          user.is_admin
            ? `${user.name} is an administrator. Remove administrator rights`
            : `Make ${user.name} an administrator`
        }
        aria-pressed={user.is_admin}
        className={cn(user.is_admin && 'text-link')}
        disabled={change.isPending}
        onClick={() => change.mutate({ is_admin: !user.is_admin })}
      >
        <Shield />
      </IconButton>
    </li>
  )
}

const adminNews = (user: UserSummary) =>
  user.is_admin ? `${user.name} is an administrator` : `${user.name} is no longer an administrator`
