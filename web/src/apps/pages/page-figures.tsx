import { useQuery } from '@tanstack/react-query'
import type { PageData, PageStats } from '@outlast/sdk'
import { Tip } from '@/components/tooltip'
import { bytes, count, plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { useOpenThread } from '@/features/threads/thread-context'

/** Figures of the last run: its changes to the page and the tokens of its prompts. */
export function PageFigures({ page, version }: { page: PageData; version: number }) {
  const stats = useLastStats(page)
  const figures: [label: string, value: string, detail: string][] = [
    ['Version', count(version), 'Saved changes so far'],
  ]
  if (stats !== null) {
    const share = stats.cached_share
    figures.push(
      ['Changes', plural(stats.patches + stats.replaced, 'patch', 'patches'), 'In the last run'],
      ['Size', `${count(stats.elements)} · ${bytes(stats.html_bytes)}`, 'Elements and HTML of the page'],
      [
        'Tokens',
        count(stats.input_tokens + stats.output_tokens),
        `${count(stats.input_tokens)} read, ${count(stats.output_tokens)} written`,
      ],
      [
        'From cache',
        share === null ? '–' : `${Math.round(share * 100)} %`,
        share === null ? 'Not reported by the provider' : `${count(stats.cached_tokens)} of the tokens read`,
      ],
    )
    for (const [name, value] of Object.entries(stats.told)) figures.push([name, String(value), 'Counted by the agent'])
  }
  return (
    <dl data-page-figures className="flex shrink-0 flex-wrap gap-x-4 gap-y-1 border-t border-line px-4 py-2 text-xs">
      {figures.map(([label, value, detail]) => (
        <Tip key={label} label={detail}>
          <div className="flex gap-1.5">
            <dt className="text-faint">{label}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        </Tip>
      ))}
    </dl>
  )
}

/** Figures of the last run that changed the page: from the stream, or else as stored by the server. */
function useLastStats(page: PageData): PageStats | null {
  const { open } = useOpenThread()
  const followed = Object.values(open.runs)
    .map((run) => run.page?.stats ?? null)
    .findLast((one) => one !== null && one.page_id === page.id)
  const last = open.messages.findLast(({ role }) => role === 'assistant')?.run_id ?? null
  const { data } = useQuery({
    queryKey: ['page-stats', last],
    queryFn: ({ signal }) => client.run(last ?? '', signal),
    enabled: last !== null && followed === undefined,
    staleTime: Infinity,
    retry: false, // the record of a run is deleted after some days
  })
  return followed ?? data?.page?.stats ?? null
}
