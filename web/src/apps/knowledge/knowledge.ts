/** The documentation of a project, updated by its stream. */
import { queryOptions } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import type { KnowledgeSource, OutlastEvent, SourceKind } from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { client, queryClient, showNews } from '@/lib/queries'
import { useFreshOnceLive } from '@/features/shell/active-project'

const GATHER_MS = 400

export const sourcesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['knowledge-sources', projectId],
    queryFn: async ({ signal }) => (await client.knowledge.sources(projectId, signal)).items,
    staleTime: Infinity, // updated by the project's stream
  })

export const packagesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['knowledge-packages', projectId],
    queryFn: ({ signal }) => client.knowledge.packages(projectId, signal),
  })

/** The sources of one package, shown together. */
export interface PackageGroup {
  name: string
  versions: string[]
  passages: number
  sources: KnowledgeSource[]
}

/** The sources by package, sorted by name; within a package, in the order in which they were added. Pure. */
export function grouped(sources: readonly KnowledgeSource[]): PackageGroup[] {
  const groups = new Map<string, PackageGroup>()
  for (const source of sources.toSorted((a, b) => a.created_at.localeCompare(b.created_at))) {
    const group = groups.get(source.package) ?? { name: source.package, versions: [], passages: 0, sources: [] }
    group.sources.push(source)
    group.passages += source.passages
    if (source.version !== '' && !group.versions.includes(source.version)) group.versions.push(source.version)
    groups.set(source.package, group)
  }
  return [...groups.values()].toSorted((a, b) => a.name.localeCompare(b.name))
}

/** The list with the current state of a source, which may be new. Pure. */
export function withSource(all: readonly KnowledgeSource[], source: KnowledgeSource): KnowledgeSource[] {
  const known = all.some(({ id }) => id === source.id)
  return known ? all.map((one) => (one.id === source.id ? source : one)) : [...all, source]
}

/** Adds a source that was just created, unless the stream has already delivered a newer state. */
export function addSource(projectId: string, source: KnowledgeSource): void {
  const { queryKey } = sourcesQuery(projectId)
  queryClient.setQueryData<KnowledgeSource[]>(
    queryKey,
    (all) => all && (all.some(({ id }) => id === source.id) ? all : withSource(all, source)),
  )
}

/** Applies the answer to a request about a source that was shown as `before`; a newer state is kept. */
export function replaceSource(projectId: string, before: KnowledgeSource, now: KnowledgeSource): void {
  const { queryKey } = sourcesQuery(projectId)
  queryClient.setQueryData<KnowledgeSource[]>(queryKey, (all) => all && all.map((one) => (one === before ? now : one)))
}

function putSource(projectId: string, source: KnowledgeSource): void {
  showNews<KnowledgeSource[]>(sourcesQuery(projectId).queryKey, (all) => withSource(all, source))
}

export function dropSource(projectId: string, sourceId: string): void {
  showNews<KnowledgeSource[]>(sourcesQuery(projectId).queryKey, (all) => all.filter(({ id }) => id !== sourceId))
}

/** Applies each change at once; counts and search results are loaded again once a burst of changes is over. */
export function useKnowledgeNews(projectId: string): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEvents(
    useCallback(
      (event: OutlastEvent) => {
        if (event.event === 'knowledge.updated') putSource(projectId, event.data.source)
        else if (event.event === 'knowledge.removed') dropSource(projectId, event.data.source_id)
        else return
        clearTimeout(timer.current)
        timer.current = setTimeout(() => {
          void queryClient.invalidateQueries({ queryKey: ['knowledge-packages'] })
          void queryClient.invalidateQueries({ queryKey: ['knowledge-search'] })
        }, GATHER_MS)
      },
      [projectId],
    ),
  )
  useFreshOnceLive(sourcesQuery(projectId).queryKey)
}

export const KINDS: Record<SourceKind, string> = {
  markdown: 'Document',
  llms_txt: 'llms.txt',
  sitemap: 'Sitemap',
  package: 'Package',
  folder: 'Folder',
  text: 'Text',
  artifact: 'File',
}

export const isBusy = ({ state }: KnowledgeSource): boolean => state === 'waiting' || state === 'fetching'

/** The name of a source: the name of a file or folder on the server, or the whole address of anything else. */
export const nameOf = ({ location }: Pick<KnowledgeSource, 'location'>): string =>
  location.startsWith('/') ? (location.split('/').findLast((part) => part !== '') ?? location) : location
