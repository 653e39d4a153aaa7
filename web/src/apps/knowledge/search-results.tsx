import { queryOptions, useQuery } from '@tanstack/react-query'
import { Info, SearchX } from 'lucide-react'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { count, plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { HitCard } from './hit-card'

const HITS = 10

const searchQuery = (projectId: string, q: string, name: string) =>
  queryOptions({
    queryKey: ['knowledge-search', projectId, q, name],
    queryFn: ({ signal }) =>
      client.knowledge.search(q, { project_id: projectId, limit: HITS, signal, ...(name !== '' && { package: name }) }),
    enabled: q !== '',
    staleTime: 60_000,
  })

interface SearchResultsProps {
  projectId: string
  q: string
  name: string
  onEverywhere: () => void
}

/** The passages that an agent would find for this query. */
export function SearchResults({ projectId, q, name, onEverywhere }: SearchResultsProps) {
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...searchQuery(projectId, q, name),
    placeholderData: (before) => before,
  })
  if (error !== null && data === undefined) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={3} className="h-36 rounded-2xl" />
  return (
    <section aria-label="Results" aria-busy={isPlaceholderData || undefined}>
      <p role="status" className="mb-3 text-xs text-muted tabular-nums">
        {plural(data.items.length, 'result')} among {count(data.searched)} passages in {data.took_ms.toFixed(0)} ms, by{' '}
        {data.method.replaceAll('+', ' + ').replace('reranked', 're-ranker')}
      </p>
      {data.note !== '' && (
        <p className="mb-3 flex gap-2 rounded-xl border border-line bg-side px-3.5 py-2 text-muted">
          <Info className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
          {data.note}
        </p>
      )}
      <ol className="space-y-3">
        {data.items.map((hit, at) => (
          <HitCard key={hit.id} hit={hit} rank={at + 1} />
        ))}
      </ol>
      {data.items.length === 0 && (
        <Empty
          icon={<SearchX />}
          title="No results"
          action={
            name !== '' ? (
              <button className="text-link hover:underline" onClick={onEverywhere}>
                Search all packages
              </button>
            ) : undefined
          }
        >
          Try words that the documentation uses: the name of a function, a setting, an error.
        </Empty>
      )}
    </section>
  )
}
