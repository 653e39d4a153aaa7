import { useQuery } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import { useCallback } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { useFileNews, type useThread } from '@outlast/sdk/react'
import { Menu, MenuItem, MenuLabel } from '@/components/menu'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { clockTime, plural } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { ChangeList } from '@/features/workspace-files/file-changes'
import { sums } from '@/features/workspace-files/checkpoints'
import { answersOf } from './answers'
import { differencesOf } from './run-changes'

interface RunChangesProps {
  screen: ScreenData
  thread: ReturnType<typeof useThread>
  /** null: the last run with changes. */
  runId: string | null
  onRun: (runId: string | null) => void
  onOpen: (path: string) => void
}

/** The changes of one answer, file by file. */
export function RunChanges({ screen, thread, runId, onRun, onOpen }: RunChangesProps) {
  const key = ['screen-changes', screen.id]
  const { data, error, refetch } = useQuery({
    queryKey: [...key, runId],
    queryFn: async ({ signal }) => {
      const changes = await client.screens.changes(screen.id, runId ?? undefined, signal)
      return { ...changes, differences: await differencesOf(changes.items) }
    },
  })
  useFileNews(
    screen.workspace_id,
    useCallback(() => void queryClient.invalidateQueries({ queryKey: ['screen-changes', screen.id] }), [screen.id]),
  )
  const answers = answersOf(thread)
  const shownAnswer = answers.find(({ runId: id }) => id === (data?.run_id ?? runId))
  return (
    <div role="tabpanel" aria-label="Changes" className="min-h-0 flex-1 overflow-y-auto p-2.5">
      {answers.length > 0 && (
        <Menu
          className="w-80"
          trigger={
            <button
              aria-label="Choose an answer"
              className="mb-2.5 flex w-full items-center gap-2 rounded-lg border border-line px-3 py-1.5 text-left hover:bg-hover"
            >
              <span className="min-w-0 flex-1 truncate">
                {shownAnswer?.words ?? 'The last answer that changed files'}
              </span>
              {shownAnswer?.at !== undefined && <span className="text-xs text-faint">{clockTime(shownAnswer.at)}</span>}
              <ChevronDown className="size-3.5 shrink-0 text-faint" aria-hidden />
            </button>
          }
        >
          <MenuLabel>Changes in the answer to</MenuLabel>
          {answers.map(({ runId: id, words, at }) => (
            <MenuItem key={id} checked={id === shownAnswer?.runId} onSelect={() => onRun(id)}>
              <span className="min-w-0 flex-1 truncate">{words}</span>
              <span className="text-xs text-faint">{clockTime(at)}</span>
            </MenuItem>
          ))}
        </Menu>
      )}
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={4} className="h-9" />}
      {data !== undefined && data.items.length === 0 && (
        <Empty title="No changes yet" className="py-8">
          {data.run_id === null ? 'No answer has changed a file yet.' : 'This answer changed no file.'}
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <>
          <p className="mb-2 text-xs text-muted">{totals(data.differences)}</p>
          <ChangeList changes={data.differences} truncated={data.truncated} onOpen={onOpen} />
        </>
      )}
    </div>
  )
}

function totals(differences: readonly { diff: string | null }[]): string {
  const all = differences.map(({ diff }) => (diff === null ? { added: 0, removed: 0 } : sums(diff)))
  const sum = (side: 'added' | 'removed') => all.reduce((total, one) => total + one[side], 0)
  return `${plural(differences.length, 'file')}, ${plural(sum('added'), 'line')} more, ${sum('removed')} less`
}
