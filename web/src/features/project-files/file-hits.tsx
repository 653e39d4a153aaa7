import { queryOptions, useQuery } from '@tanstack/react-query'
import { SearchX } from 'lucide-react'
import { useMemo } from 'react'
import type { ArtifactData, ArtifactHit } from '@outlast/sdk'
import { Markdown } from '@/components/markdown'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { markWords } from '@/components/marked'
import { client } from '@/lib/queries'

const HITS = 10

const fileSearchQuery = (projectId: string, q: string) =>
  queryOptions({
    queryKey: ['project-file-search', projectId, q],
    queryFn: ({ signal }) => client.artifacts.search(projectId, q, { limit: HITS, signal }),
    enabled: q !== '',
    staleTime: 60_000,
  })

interface FileHitsProps {
  projectId: string
  q: string
  onOpen: (file: ArtifactData, page: number) => void
}

/** The passages that an agent would find in the files. */
export function FileHits({ projectId, q, onOpen }: FileHitsProps) {
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...fileSearchQuery(projectId, q),
    placeholderData: (before) => before,
  })
  if (error !== null && data === undefined) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <SkeletonRows rows={3} className="h-28 rounded-2xl" />
  if (data.items.length === 0)
    return (
      <Empty icon={<SearchX />} title="No results">
        Try words that appear in the files. {data.note}
      </Empty>
    )
  return (
    <section aria-label="Results" aria-busy={isPlaceholderData || undefined}>
      <ol className="space-y-3">
        {data.items.map((hit, at) => (
          <Hit key={at} hit={hit} onOpen={() => onOpen(hit.artifact, hit.page ?? 1)} />
        ))}
      </ol>
      {data.note !== '' && <p className="mt-3 text-xs text-muted">{data.note}</p>}
    </section>
  )
}

function Hit({ hit, onOpen }: { hit: ArtifactHit; onOpen: () => void }) {
  const rehype = useMemo(() => [markWords(hit.terms)], [hit.terms])
  return (
    <li className="rounded-2xl border border-line bg-raised px-4 py-3.5 sm:px-5">
      <button className="max-w-full text-left font-semibold [overflow-wrap:anywhere] hover:underline" onClick={onOpen}>
        {hit.artifact.name}
        {hit.page !== null && <span className="font-normal text-muted">, page {hit.page}</span>}
      </button>
      <div className="mt-1.5 max-h-44 overflow-hidden">
        <Markdown text={hit.text} rehype={rehype} />
      </div>
    </li>
  )
}
