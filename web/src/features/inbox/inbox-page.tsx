import { Inbox } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { useApps } from '@/lib/apps'
import { cn } from '@/lib/cn'
import { PageHeader } from '../shell/shell'
import { useInbox } from './inbox-context'
import { InboxRow } from './inbox-row'
import { NotificationSetting } from './notification-setting'
import { inboxKinds } from './inbox-kinds'

/** `/inbox`: everything that waits for the user, with its actions. */
export default function InboxPage() {
  const { items, isLoading, error, refresh, hasMore, isLoadingMore, loadMore } = useInbox()
  const [kind, setKind] = useState<string | null>(null)
  useEffect(() => {
    document.title = 'Inbox · Outlast'
  }, [])
  const views = Object.entries(inboxKinds(useApps()))
  const kinds = views.filter(([name]) => items.some((item) => item.kind === name))
  const wanted = kinds.some(([name]) => name === kind) ? kind : null
  const shownItems = wanted === null ? items : items.filter((item) => item.kind === wanted)
  return (
    <>
      <PageHeader>
        <h1 className="flex-1 text-[14.5px] font-semibold">Inbox</h1>
        <NotificationSetting />
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl px-4 py-5 sm:px-6">
          {error !== null && <Problem className="mb-4" error={error} retry={refresh} />}
          {kinds.length > 1 && (
            <div role="group" aria-label="Filter by kind" className="mb-4 flex flex-wrap gap-1.5">
              <Filter on={wanted === null} onClick={() => setKind(null)}>
                All
              </Filter>
              {kinds.map(([name, { group }]) => (
                <Filter key={name} on={wanted === name} onClick={() => setKind(name)}>
                  {group}
                </Filter>
              ))}
            </div>
          )}
          {isLoading && <SkeletonRows rows={4} className="h-20 rounded-xl" />}
          {!isLoading && error === null && items.length === 0 && (
            <Empty className="pt-[14vh]" icon={<Inbox />} title="Nothing is waiting for you">
              Approvals, questions, edits to review, hand-over requests, mentions and schedules with problems appear
              here.
            </Empty>
          )}
          <ul aria-label="Inbox items" className="space-y-2.5">
            {shownItems.map((item) => (
              <InboxRow key={`${item.kind} ${item.id}`} item={item} />
            ))}
          </ul>
          {hasMore && (
            <Button look="ghost" className="mt-2 w-full" busy={isLoadingMore} onClick={loadMore}>
              Show more
            </Button>
          )}
        </div>
      </div>
    </>
  )
}

const Filter = ({ on, onClick, children }: { on: boolean; onClick: () => void; children: string }) => (
  <button
    aria-pressed={on}
    className={cn(
      'rounded-full border px-3 py-1 text-[13px] pointer-coarse:py-2',
      on ? 'border-transparent bg-active font-medium' : 'border-line text-muted hover:text-fg',
    )}
    onClick={onClick}
  >
    {children}
  </button>
)
