/** What can be searched in a project, kept in step with its stream. */
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
    staleTime: Infinity, // the project's stream keeps it in step
  })

export const packagesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['knowledge-packages', projectId],
    queryFn: ({ signal }) => client.knowledge.packages(projectId, signal),
  })

/** Sources of one package, as they are shown together. */
export interface PackageGroup {
  name: string
  versions: string[]
  passages: number
  sources: KnowledgeSource[]
}

/** The sources by package, both by name; within one, as they were added. Pure. */
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

/** The list with a source as it is now: changed, or new in it. Pure. */
export function withSource(all: readonly KnowledgeSource[], source: KnowledgeSource): KnowledgeSource[] {
  const known = all.some(({ id }) => id === source.id)
  return known ? all.map((one) => (one.id === source.id ? source : one)) : [...all, source]
}

/** A source that was just made: the stream may have told of it already, and knows better then. */
export function addSource(projectId: string, source: KnowledgeSource): void {
  const { queryKey } = sourcesQuery(projectId)
  queryClient.setQueryData<KnowledgeSource[]>(
    queryKey,
    (all) => all && (all.some(({ id }) => id === source.id) ? all : withSource(all, source)),
  )
}

/** What a request answered of a source that was shown as `before`; anything newer stays. */
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

/** Shows each change at once; what is counted and found is asked for again once a burst of them is over. */
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

/** What a source is called: a file or folder of the server by its name, everything else by its whole address. */
export const nameOf = ({ location }: Pick<KnowledgeSource, 'location'>): string =>
  location.startsWith('/') ? (location.split('/').findLast((part) => part !== '') ?? location) : location
