import { useInfiniteQuery } from '@tanstack/react-query'
import { FilePlus2, FileText, History, RotateCcw, Sparkles, Undo2, type LucideIcon } from 'lucide-react'
import { useCallback, useEffect, useMemo } from 'react'
import type { OutlastEvent, PageData, PageVersion, VersionKind } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { NowBadge } from '@/components/now-badge'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Since } from '@/components/time'
import { cn } from '@/lib/cn'
import { client, queryClient } from '@/lib/queries'
import { useOpenThread } from '@/features/threads/thread-context'
import { asksOf, groupsOf, summaryOf, type VersionGroup } from './history-groups'
import { MoreButton } from '@/components/more-button'

const PAGE = 100
const ICONS: Record<VersionKind, LucideIcon> = {
  created: FilePlus2,
  full: FileText,
  patches: Sparkles,
  undo: Undo2,
  restore: RotateCcw,
  copy: FilePlus2,
}

const versionsKey = (pageId: string) => ['page-versions', pageId]

/** All loaded versions, newest first, updated while `looked` is set. */
export function useVersions(page: PageData, version: number, looked: boolean) {
  const query = useInfiniteQuery({
    queryKey: versionsKey(page.id),
    enabled: looked,
    queryFn: ({ pageParam, signal }) =>
      client.pages.versions(page.id, { limit: PAGE, signal, ...(pageParam !== null && { before: pageParam }) }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
  })
  const reload = useCallback(() => void queryClient.invalidateQueries({ queryKey: versionsKey(page.id) }), [page.id])
  useEffect(() => {
    const timer = setTimeout(reload, 400)
    return () => clearTimeout(timer)
  }, [version, reload])
  useEvents(
    useCallback(({ event }: OutlastEvent) => void (event === 'run.completed' && reload()), [reload]), // adds summaries
  )
  return { ...query, items: query.data?.pages.flatMap(({ items }) => items) ?? [] }
}

interface HistoryPanelProps {
  versions: ReturnType<typeof useVersions>
  now: number
  /** The earlier version that is shown. */
  past: number | null
  onLook: (version: number | null) => void
}

/** The page's versions, newest first, one entry per run; you can view each. */
export function HistoryPanel({ versions, now, past, onLook }: HistoryPanelProps) {
  const { items, data, error, refetch } = versions
  const { open } = useOpenThread()
  const asks = useMemo(() => asksOf(open.messages), [open.messages])
  const groups = groupsOf(items)
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-2.5">
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={5} className="h-12" />}
      {data !== undefined && groups.length === 0 && (
        <Empty title="No versions yet" icon={<History />} className="py-8">
          Each change creates a version. You can view and restore any of them.
        </Empty>
      )}
      <ol aria-label="Versions" className="space-y-1.5">
        {groups.map((group) => (
          <Entry
            key={group.newest}
            group={group}
            ask={asks.get(group.runId ?? '') ?? null}
            now={now}
            past={past}
            onLook={onLook}
          />
        ))}
      </ol>
      <MoreButton list={versions} label="Older" />
    </div>
  )
}

interface EntryProps {
  group: VersionGroup
  /** The request, if a run made the version. */
  ask: string | null
  now: number
  past: number | null
  onLook: (version: number | null) => void
}

function Entry({ group, ask, now, past, onLook }: EntryProps) {
  const { newest, oldest, kind, versions } = group
  const Icon = ICONS[kind]
  const isNow = newest === now
  const looked = past !== null && past >= oldest && past <= newest
  return (
    <li data-version={newest} className={cn('rounded-xl border', looked ? 'border-accent' : 'border-line')}>
      <button
        aria-pressed={looked}
        className="flex w-full items-start gap-2.5 rounded-xl px-3 py-2 text-left hover:bg-hover"
        onClick={() => onLook(isNow ? null : newest)}
      >
        <Icon className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
        <span className="min-w-0 flex-1">
          <span className="line-clamp-3 [overflow-wrap:anywhere]">{ask ?? summaryOf(group)}</span>
          {ask !== null && <span className="block text-xs text-muted">{summaryOf(group)}</span>}
          <span className="mt-0.5 block text-xs text-faint">
            {newest === oldest ? `Version ${newest}` : `Versions ${oldest}–${newest}`} ·{' '}
            <Since iso={versions[0]?.created_at ?? ''} />
          </span>
        </span>
        {isNow && <NowBadge />}
      </button>
      {looked && versions.length > 1 && <Steps versions={versions} past={past} onLook={onLook} />}
    </li>
  )
}

/** The individual changes of one run. */
const Steps = ({
  versions,
  past,
  onLook,
}: {
  versions: readonly PageVersion[]
  past: number | null
  onLook: (version: number) => void
}) => (
  <ol aria-label="Individual changes" className="flex flex-wrap gap-1 border-t border-line px-3 py-2">
    {versions.toReversed().map(({ version }) => (
      <li key={version}>
        <button
          aria-label={`View version ${version}`}
          aria-pressed={version === past}
          className={cn(
            'h-6 min-w-6 rounded-md px-1.5 text-xs tabular-nums pointer-coarse:h-9 pointer-coarse:min-w-9',
            version === past ? 'bg-accent text-accent-fg' : 'bg-active text-muted hover:text-fg',
          )}
          onClick={() => onLook(version)}
        >
          {version}
        </button>
      </li>
    ))}
  </ol>
)
