import { useQuery } from '@tanstack/react-query'
import { BookOpen, Plus, Search, Sparkles, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { KnowledgePackages, KnowledgeSource } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, SkeletonRows } from '@/components/placeholders'
import { count, plural } from '@/lib/format'
import { useActiveProject } from '@/features/shell/active-project'
import { PageHeader } from '@/features/shell/shell'
import { AddSourceDialog } from './add-source-dialog'
import { addSource, grouped, packagesQuery, sourcesQuery, useKnowledgeNews } from './knowledge'
import { PackageCard } from './package-card'
import { PassagesDialog } from './passages-dialog'
import { SearchResults } from './search-results'
import { useDebounced } from '@/lib/use-debounced'

/** `/projects/:id/knowledge`: the documentation that agents can search, its sources, and a search to test it. */
export default function KnowledgePage({ projectId }: { projectId: string }) {
  const { projectId: active, project, choose } = useActiveProject()
  const { data: sources, error, refetch } = useQuery(sourcesQuery(projectId))
  const { data: packages } = useQuery(packagesQuery(projectId))
  const [adding, setAdding] = useState(false)
  const [looking, setLooking] = useState<string | null>(null)
  const [q, setQ] = useState('')
  const [name, setName] = useState('')
  const searchText = useDebounced(q.trim())
  useKnowledgeNews(projectId)
  useEffect(() => choose(projectId), [projectId, choose])
  useEffect(() => {
    document.title = 'Knowledge · Outlast'
  }, [])
  const mayEdit = active === projectId && project !== null && project.role !== 'viewer'
  const groups = grouped(sources ?? [])
  const lookedAt = sources?.find(({ id }) => id === looking)
  const added = (source: KnowledgeSource) => {
    addSource(projectId, source)
    setAdding(false)
  }
  return (
    <>
      <PageHeader>
        <h1 className="truncate text-[14.5px] font-semibold">Knowledge</h1>
        <span className="flex-1" />
        {sources !== undefined && sources.length > 0 && <Total sources={sources} />}
        {mayEdit && sources !== undefined && sources.length > 0 && (
          <Button size="sm" look="primary" onClick={() => setAdding(true)}>
            <Plus />
            Add source
          </Button>
        )}
      </PageHeader>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-4xl px-3 py-4 sm:px-6 sm:py-6">
          {error !== null && <Problem className="mb-4" error={error} retry={() => void refetch()} />}
          {sources === undefined && error === null && <SkeletonRows rows={3} className="h-32 rounded-2xl" />}
          {sources !== undefined && sources.length === 0 && (
            <NoSources mayEdit={mayEdit} onAdd={() => setAdding(true)} />
          )}
          {sources !== undefined && sources.length > 0 && (
            <>
              <QueryBox q={q} name={name} names={groups.map((group) => group.name)} onQ={setQ} onName={setName} />
              {searchText === '' ? (
                <>
                  {packages !== undefined && <HowItSearches packages={packages} />}
                  <ul aria-label="Packages" className="space-y-3">
                    {groups.map((group) => (
                      <PackageCard
                        key={group.name}
                        projectId={projectId}
                        group={group}
                        mayEdit={mayEdit}
                        embeds={packages !== undefined && packages.embedder !== null}
                        onPassages={setLooking}
                        onSearch={() => (setName(group.name), focusQuery())}
                      />
                    ))}
                  </ul>
                </>
              ) : (
                <SearchResults projectId={projectId} q={searchText} name={name} onEverywhere={() => setName('')} />
              )}
            </>
          )}
        </div>
      </div>
      {adding && (
        <AddSourceDialog
          projectId={projectId}
          packages={groups.map((group) => group.name)}
          onAdded={added}
          onClose={() => setAdding(false)}
        />
      )}
      {lookedAt !== undefined && <PassagesDialog source={lookedAt} onClose={() => setLooking(null)} />}
    </>
  )
}

const focusQuery = () => document.querySelector<HTMLElement>('[data-knowledge-query]')?.focus()

const Total = ({ sources }: { sources: KnowledgeSource[] }) => (
  <p className="text-xs text-muted tabular-nums max-sm:hidden" role="status">
    {count(sources.reduce((sum, { passages }) => sum + passages, 0))} passages from {plural(sources.length, 'source')}
  </p>
)

interface QueryBoxProps {
  q: string
  name: string
  names: string[]
  onQ: (q: string) => void
  onName: (name: string) => void
}

const QueryBox = ({ q, name, names, onQ, onName }: QueryBoxProps) => (
  <search className="mb-4 flex flex-col gap-2 sm:flex-row">
    <label className="relative min-w-0 flex-1">
      <Search className="absolute top-1/2 left-3.5 size-4 -translate-y-1/2 text-faint" aria-hidden />
      <input
        data-knowledge-query
        type="search"
        aria-label="Test a query"
        placeholder="Test a query: see the passages an agent would find"
        maxLength={2000}
        className="h-11 w-full rounded-xl border border-line-strong bg-raised pr-10 pl-10.5 outline-none focus:border-accent focus:ring-3 focus:ring-accent/15 [&::-webkit-search-cancel-button]:hidden"
        value={q}
        onChange={(event) => onQ(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onQ('')}
      />
      {q !== '' && (
        <button
          aria-label="Clear query"
          className="absolute top-1/2 right-3 -translate-y-1/2 p-1 text-faint hover:text-fg"
          onClick={() => onQ('')}
        >
          <X className="size-4" />
        </button>
      )}
    </label>
    <select
      aria-label="Package"
      className="h-11 rounded-xl border border-line-strong bg-raised px-3 outline-none focus:border-accent sm:max-w-56"
      value={name}
      onChange={(event) => onName(event.target.value)}
    >
      <option value="">All packages</option>
      {names.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  </search>
)

/** Describes the search methods in use. */
const HowItSearches = ({ packages: { embedder, reranker } }: { packages: KnowledgePackages }) => (
  <p
    data-embedder={embedder ?? ''}
    className="mb-4 flex gap-2.5 rounded-xl border border-line bg-side px-3.5 py-2.5 text-[13px] text-muted"
  >
    <Sparkles className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden />
    {embedder === null ? (
      <span>
        Search matches words only, because no embedder is configured. Add an{' '}
        <code className="font-mono">[embeddings]</code> section to the configuration to also match texts by meaning.
      </span>
    ) : (
      <span>
        Search combines words (30 %) and vectors from <code className="font-mono">{embedder}</code> (70 %)
        {reranker && ', ordered by a re-ranker'}.
      </span>
    )}
  </p>
)

const NoSources = ({ mayEdit, onAdd }: { mayEdit: boolean; onAdd: () => void }) => (
  <Empty
    className="pt-[12vh]"
    icon={<BookOpen />}
    title="No documentation yet"
    action={
      mayEdit ? (
        <Button look="primary" onClick={onAdd}>
          <Plus />
          Add documentation
        </Button>
      ) : undefined
    }
  >
    Agents search here before they write code against a library or an API. Add a URL, a file or text; packages of the
    configuration bring their own documentation.
  </Empty>
)
