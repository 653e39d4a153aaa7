import {
  Bot,
  FileInput,
  FilePlus2,
  GitCompareArrows,
  History,
  MessageSquare,
  RotateCcw,
  type LucideIcon,
} from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import type { DocumentVersion, DocumentVersionKind } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { NowBadge } from '@/components/now-badge'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { Since } from '@/components/time'
import { cn } from '@/lib/cn'
import { useNarrow } from '@/lib/use-narrow'
import { Avatar } from '@/features/shell/avatar'
import { useDocumentRoom, type PanelProps } from './document-context'
import { groupsOf, summaryOf, type VersionGroup } from './history-groups'
import { useLook, type Look } from './viewed-version'
import { useHistory } from './use-history'
import { MoreButton } from '@/components/more-button'

const ICONS: Record<DocumentVersionKind, LucideIcon | null> = {
  created: FilePlus2,
  edit: null,
  agent: Bot,
  import: FileInput,
  restore: RotateCcw,
}

/** The document's versions, newest first; you can view, compare and restore each. */
export function HistoryPanel({ item }: PanelProps) {
  const list = useHistory()
  const { items, data, error, refetch, now } = list
  const { look, setLook: setShown } = useLook()
  const { closePanel } = useDocumentRoom()
  const narrow = useNarrow()
  const setLook = useCallback(
    (next: Look) => {
      setShown(next)
      if (narrow) closePanel() // on a phone, the text replaces the panel
    },
    [setShown, narrow, closePanel],
  )
  const [from, setFrom] = useState<number | null>(null)
  const requestedVersion = item === null ? Number.NaN : Number(item.replace(/^version:/, ''))
  useEffect(() => {
    if (Number.isInteger(requestedVersion))
      setLook({ kind: 'diff', from: Math.max(1, requestedVersion - 1), to: requestedVersion })
  }, [requestedVersion, setLook])
  const choose = (version: number) => {
    if (from !== null && from !== version) {
      setLook({ kind: 'diff', from: Math.min(from, version), to: Math.max(from, version) })
      setFrom(null)
    } else setLook(version === now ? null : { kind: 'version', version })
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-2.5">
      {from !== null && (
        <div role="status" className="lock-note mb-2 border border-line bg-side">
          <span className="flex-1">Choose the version to compare version {from} with.</span>
          <Button size="sm" onClick={() => setFrom(null)}>
            Cancel
          </Button>
        </div>
      )}
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={5} className="h-14" />}
      {data !== undefined && items.length === 0 && (
        <Empty title="No versions yet" icon={<History />} className="py-8">
          Each change creates a version. You can view, compare and restore versions.
        </Empty>
      )}
      <ol aria-label="Versions" className="space-y-1.5">
        {groupsOf(items).map((group) => (
          <Entry
            key={group.oldest}
            group={group}
            now={now}
            shown={look === null ? [] : look.kind === 'version' ? [look.version] : [look.from, look.to]}
            onLook={choose}
            onDiff={(oldest, newest) => setLook({ kind: 'diff', from: Math.max(1, oldest - 1), to: newest })}
            onFrom={setFrom}
          />
        ))}
      </ol>
      <MoreButton list={list} label="Older" />
    </div>
  )
}

interface EntryProps {
  group: VersionGroup
  now: number
  shown: readonly number[]
  onLook: (version: number) => void
  onDiff: (oldest: number, newest: number) => void
  onFrom: (version: number) => void
}

function Entry({ group, now, shown, onLook, onDiff, onFrom }: EntryProps) {
  const { newest, oldest, kind, versions, by, byName, at } = group
  const { openPanel } = useDocumentRoom()
  const [open, setOpen] = useState(false)
  const Icon = ICONS[kind]
  const isNow = newest === now
  const looked = shown.some((version) => version >= oldest && version <= newest)
  const thread = versions[0]?.thread_id ?? null
  return (
    <li data-version={newest} className={cn('group/entry rounded-xl border', looked ? 'border-accent' : 'border-line')}>
      <div className="flex items-start gap-2.5 px-3 py-2">
        <span className="relative mt-0.5 shrink-0">
          {by === null || kind === 'agent' ? (
            <span className="grid size-6 place-items-center rounded-full bg-accent-soft text-link [&_svg]:size-3.5">
              <Bot aria-hidden />
            </span>
          ) : (
            <Avatar id={by} name={byName ?? '?'} className="size-6 text-[10px]" />
          )}
          {Icon !== null && kind !== 'agent' && (
            <Icon className="absolute -right-1 -bottom-1 size-3 rounded-full bg-bg text-muted" aria-hidden />
          )}
        </span>
        <button className="min-w-0 flex-1 text-left" aria-pressed={looked} onClick={() => onLook(newest)}>
          <span className="line-clamp-2 [overflow-wrap:anywhere]">{summaryOf(group)}</span>
          <span className="mt-0.5 block text-xs text-faint">
            {kind === 'agent' ? `accepted by ${byName ?? 'someone'}` : (byName ?? 'Agent')} · <Since iso={at} /> ·{' '}
            {newest === oldest ? newest : `${oldest}–${newest}`}
          </span>
        </button>
        {isNow && <NowBadge className="mt-0.5" />}
        <span className="flex shrink-0">
          {thread !== null && (
            <IconButton label="Open conversation" size="icon-sm" onClick={() => openPanel('thread', thread)}>
              <MessageSquare />
            </IconButton>
          )}
          {newest > 1 && (
            <IconButton label="View changes" size="icon-sm" onClick={() => onDiff(oldest, newest)}>
              <GitCompareArrows />
            </IconButton>
          )}
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 px-3 pb-2 pl-11.5 text-xs">
        {versions.length > 1 && (
          <button className="text-link hover:underline" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide individual changes' : `${versions.length} individual changes`}
          </button>
        )}
        <button className="text-muted hover:text-fg hover:underline" onClick={() => onFrom(newest)}>
          Compare with …
        </button>
      </div>
      {open && <Steps versions={versions} shown={shown} onLook={onLook} />}
    </li>
  )
}

interface StepsProps {
  versions: readonly DocumentVersion[]
  shown: readonly number[]
  onLook: (version: number) => void
}

const Steps = ({ versions, shown, onLook }: StepsProps) => (
  <ol aria-label="Individual changes" className="border-t border-line py-1">
    {versions.map(({ version, summary, created_at }) => (
      <li key={version}>
        <button
          aria-pressed={shown.includes(version)}
          className={cn(
            'flex w-full items-baseline gap-2 px-3 py-1 text-left text-xs hover:bg-hover pointer-coarse:py-2',
            shown.includes(version) && 'bg-active',
          )}
          onClick={() => onLook(version)}
        >
          <span className="w-7 shrink-0 text-right text-faint tabular-nums">{version}</span>
          <span className="min-w-0 flex-1 truncate text-muted">{summary === '' ? 'Edited' : summary}</span>
          <Since iso={created_at} className="shrink-0 text-faint" />
        </button>
      </li>
    ))}
  </ol>
)
