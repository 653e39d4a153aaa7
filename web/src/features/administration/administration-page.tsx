import { useEffect } from 'react'
import { ShieldAlert } from 'lucide-react'
import { Empty } from '@/components/placeholders'
import { useMe } from '../session/session-gate'
import { PageHeader } from '../shell/shell'
import { SetAsideList } from './set-aside-list'
import { UserList } from './user-list'

/** Users, plans, credits, and work that was set aside, for the server's administrators. */
export default function AdministrationPage() {
  const me = useMe()
  useEffect(() => {
    document.title = 'Administration · Outlast'
  }, [])
  return (
    <>
      <PageHeader>
        <h1 className="flex-1 text-[14.5px] font-semibold">Administration</h1>
      </PageHeader>
      {me.user.is_admin ? (
        <div className="min-h-0 flex-1 overflow-y-auto px-4 py-5 md:px-6">
          <div className="mx-auto max-w-4xl space-y-8">
            <SetAsideList />
            <UserList />
          </div>
        </div>
      ) : (
        <Empty className="pt-[20vh]" icon={<ShieldAlert />} title="This page is for administrators">
          An administrator of this server can give you access.
        </Empty>
      )}
    </>
  )
}
