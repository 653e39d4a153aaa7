import { useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import type { Sandbox } from '@outlast/sdk'
import { Button } from '@/components/button'
import { CopyIcon } from '@/components/copy'
import { Dialog } from '@/components/dialog'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { client } from '@/lib/queries'

const nameOf = (source: string): string => (source === 'sandbox' ? 'Sandbox' : source)

/** The end of each log of a sandbox; `first` is the initial one, or empty for the first that has output. */
export function LogsDialog({ sandbox, first, onClose }: { sandbox: Sandbox; first: string; onClose: () => void }) {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['sandbox-logs', sandbox.id],
    queryFn: ({ signal }) => client.sandboxLogs(sandbox.id, signal),
    staleTime: 0,
  })
  const [chosen, setChosen] = useState(first)
  const logs = data?.items ?? []
  const log = logs.find(({ source }) => source === chosen) ?? logs.find(({ text }) => text !== '') ?? logs[0]
  return (
    <Dialog open onClose={onClose} title="Logs" className="sm:ml-[-23rem] sm:w-[46rem]">
      <div className="mb-3 flex flex-wrap items-center gap-1.5">
        <div role="tablist" aria-label="Logs" className="flex flex-1 flex-wrap gap-1">
          {logs.map(({ source }) => (
            <button
              key={source}
              role="tab"
              aria-selected={source === log?.source}
              className={cn(
                'rounded-full px-2.5 py-1 text-[12.5px]',
                source === log?.source ? 'bg-active font-medium' : 'text-muted hover:text-fg',
              )}
              onClick={() => setChosen(source)}
            >
              {nameOf(source)}
            </button>
          ))}
        </div>
        <Button size="sm" busy={isFetching} onClick={() => void refetch()}>
          {!isFetching && <RefreshCw />}
          Refresh
        </Button>
        {log !== undefined && log.text !== '' && <CopyIcon text={log.text} label="Copy log" />}
      </div>
      {error !== null && <Problem error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton className="h-48" />}
      {log !== undefined && (
        <pre
          role="tabpanel"
          tabIndex={0}
          aria-label={`Log of ${nameOf(log.source)}`}
          ref={(log) => void (log && (log.scrollTop = log.scrollHeight))}
          className="max-h-[52vh] min-h-24 overflow-auto rounded-xl bg-term px-3.5 py-3 font-mono text-xs leading-relaxed [overflow-wrap:anywhere] whitespace-pre-wrap text-term-fg"
        >
          {log.text === '' ? 'No output yet.' : log.text}
        </pre>
      )}
    </Dialog>
  )
}
