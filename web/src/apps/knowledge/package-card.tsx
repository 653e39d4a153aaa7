import { Package } from 'lucide-react'
import { plural } from '@/lib/format'
import { type PackageGroup } from './knowledge'
import { SourceRow } from './source-row'

interface PackageCardProps {
  projectId: string
  group: PackageGroup
  mayEdit: boolean
  embeds: boolean
  onPassages: (sourceId: string) => void
  onSearch: () => void
}

/** One package: its facts and its sources. */
export function PackageCard({ projectId, group, mayEdit, embeds, onPassages, onSearch }: PackageCardProps) {
  return (
    <li data-package={group.name}>
      <article aria-label={`Package ${group.name}`} className="rounded-2xl border border-line bg-raised">
        <header className="flex items-center gap-3 px-4 py-3 sm:px-5">
          <Package className="size-4 shrink-0 text-faint" aria-hidden />
          <h2 className="min-w-0 truncate font-semibold">{group.name}</h2>
          {group.versions.map((version) => (
            <span key={version} className="rounded-md bg-active px-1.5 text-xs text-muted tabular-nums">
              {version}
            </span>
          ))}
          <span className="flex-1" />
          <span className="shrink-0 text-xs text-faint tabular-nums max-sm:hidden">
            {plural(group.passages, 'passage')}
          </span>
          {group.passages > 0 && (
            <button className="shrink-0 text-xs text-link hover:underline" onClick={onSearch}>
              Search in it
            </button>
          )}
        </header>
        <ul aria-label={`Sources of ${group.name}`} className="divide-y divide-line border-t border-line">
          {group.sources.map((source) => (
            <SourceRow
              key={source.id}
              projectId={projectId}
              source={source}
              mayEdit={mayEdit}
              embeds={embeds}
              onPassages={() => onPassages(source.id)}
            />
          ))}
        </ul>
      </article>
    </li>
  )
}
