import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { SearchHit } from '@outlast/sdk'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { useDebounced } from '@/lib/use-debounced'
import { byFile, marked } from './file-hits'

const STILL_MS = 250

interface SearchHitsProps {
  screenId: string
  q: string
  selected: { path: string | null; line: number | null }
  onOpen: (path: string, line: number) => void
}

/** Lines that contain a text, by file. */
export function SearchHits({ screenId, q, selected, onOpen }: SearchHitsProps) {
  const still = useDebounced(q, STILL_MS)
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['screen-search', screenId, still],
    queryFn: ({ signal }) => client.screens.search(screenId, still, { signal }),
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  })
  const files = useMemo(() => byFile(data?.items ?? []), [data])
  if (error !== null) return <Problem className="m-3" error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={5} className="mx-3 mt-2 h-6" />
  if (files.length === 0 && !isFetching)
    return (
      <Empty title="No results" className="py-8">
        No file contains “{still}”. Search ignores case.
      </Empty>
    )
  return (
    <div data-search-hits className={cn('py-1', isFetching && 'opacity-60')}>
      <p role="status" className="px-3 py-1 text-xs text-faint">
        {plural(data.items.length, 'result')} in {plural(files.length, 'file')}
        {data.truncated && '; there are more'}
      </p>
      <ul>
        {files.map(({ path, hits }) => (
          <li key={path}>
            <p className="truncate px-3 pt-2 pb-0.5 font-mono text-xs text-muted" title={path}>
              {path}
            </p>
            <ul>
              {hits.map((hit) => (
                <li key={hit.line}>
                  <button
                    data-hit={`${hit.path}:${hit.line}`}
                    aria-current={selected.path === hit.path && selected.line === hit.line}
                    className="flex w-full gap-2 px-3 py-0.5 text-left font-mono text-xs hover:bg-hover aria-current:bg-active pointer-coarse:py-2"
                    onClick={() => onOpen(hit.path, hit.line)}
                  >
                    <span className="w-8 shrink-0 text-right text-faint tabular-nums">{hit.line}</span>
                    <Line hit={hit} q={still} />
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  )
}

const Line = ({ hit, q }: { hit: SearchHit; q: string }) => (
  <span className="min-w-0 truncate">
    {marked(hit.text, q).map(({ text, hit }, at) =>
      hit ? (
        <mark key={at} className="rounded-sm bg-warn-soft text-warn">
          {text}
        </mark>
      ) : (
        text
      ),
    )}
  </span>
)
