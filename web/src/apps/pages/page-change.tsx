import { FileText, Sparkles, TriangleAlert } from 'lucide-react'
import type { PagePart } from '@outlast/sdk'
import { plural } from '@/lib/format'

/** One line about a step's changes to a page; the page itself shows the rest. */
export function PageChange({ part: { whole, patches, refused, version, summary } }: { part: PagePart }) {
  const done = [
    ...(whole ? ['Page rewritten'] : []),
    ...(patches > 0 ? [`${plural(patches, 'change')} to the page`] : []),
  ].join(', ')
  if (done === '' && refused === 0 && summary === '') return null
  const Icon = whole ? FileText : Sparkles
  return (
    <div
      data-page-change={version}
      className="flex gap-2 rounded-xl border border-line bg-raised px-3 py-2 text-[13px]"
    >
      <Icon className="mt-0.5 size-4 shrink-0 text-link" aria-hidden />
      <div className="min-w-0 flex-1">
        {summary !== '' && <p className="[overflow-wrap:anywhere]">{summary}</p>}
        {(done !== '' || summary === '') && (
          <p className={summary === '' ? '' : 'text-xs text-faint'}>{done === '' ? 'No changes to the page' : done}</p>
        )}
        {refused > 0 && (
          <p className="mt-0.5 flex items-center gap-1.5 text-xs text-warn">
            <TriangleAlert className="size-3.5 shrink-0" aria-hidden />
            {plural(refused, 'line')} could not be applied and {refused === 1 ? 'was' : 'were'} returned to the agent
          </p>
        )}
      </div>
      <span className="shrink-0 text-xs text-faint tabular-nums">v{version}</span>
    </div>
  )
}
