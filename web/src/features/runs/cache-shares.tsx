import { useQuery } from '@tanstack/react-query'
import type { CacheShare } from '@outlast/sdk'
import { count, percent, plural } from '@/lib/format'
import { client } from '@/lib/queries'

/** One line under the list: the share of recent prompts that each provider read from its cache. */
export function CacheShares({ projectId }: { projectId: string }) {
  const shares = useQuery({
    queryKey: ['cache-shares', projectId],
    queryFn: ({ signal }) => client.cacheShares({ project: projectId, signal }),
  })
  const providers = byProvider(shares.data?.items ?? [])
  if (providers.length === 0) return null
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 border-t border-line px-4 py-2.5 text-xs text-faint tabular-nums">
      <span>Prompts read from cache, last 30 days</span>
      {providers.map(({ provider, runs, asked, cached }) => (
        <span key={provider} title={`${count(cached)} of ${count(asked)} tokens in ${plural(runs, 'run')}`}>
          {provider === '' ? 'Others' : provider} <span className="text-muted">{percent(cached, asked)}</span>
        </span>
      ))}
    </p>
  )
}

interface Sum {
  provider: string
  runs: number
  asked: number
  cached: number
}

function byProvider(shares: CacheShare[]): Sum[] {
  const sums = new Map<string, Sum>()
  for (const { provider, runs, input_tokens, cached_tokens } of shares) {
    const sum = sums.get(provider) ?? { provider, runs: 0, asked: 0, cached: 0 }
    const more = { runs: sum.runs + runs, asked: sum.asked + input_tokens, cached: sum.cached + cached_tokens }
    sums.set(provider, { provider, ...more })
  }
  return [...sums.values()]
}
