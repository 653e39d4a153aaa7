import type { Sandbox } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { bytes, count, duration } from '@/lib/format'

/** The resources that the sandbox uses, with their limits. */
export function Meters({ sandbox }: { sandbox: Sandbox }) {
  const { limits } = sandbox
  return (
    <dl className="grid grid-cols-2 gap-x-5 gap-y-3 px-4 py-3.5 sm:grid-cols-4 sm:px-5">
      <Meter name="Memory" used={sandbox.memory_bytes} limit={limits?.memory_bytes} show={bytes} />
      <Meter name="Disk" used={sandbox.disk_bytes} limit={limits?.disk_bytes} show={bytes} />
      <Meter name="Processes" used={sandbox.processes} limit={limits?.processes} show={count} />
      <Meter
        name="Processor time"
        used={sandbox.cpu_s}
        show={duration}
        note={limits && `${limits.cpus} ${limits.cpus === 1 ? 'core' : 'cores'} at most`}
      />
    </dl>
  )
}

interface MeterProps {
  name: string
  used: number | null
  limit?: number | undefined
  show: (value: number) => string
  note?: string | null
}

function Meter({ name, used, limit, show, note }: MeterProps) {
  const share = used === null || limit === undefined || limit === 0 ? null : Math.min(used / limit, 1)
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="mt-0.5 truncate tabular-nums">
        {used === null ? <span className="text-faint">–</span> : show(used)}
        {limit !== undefined && <span className="text-xs text-faint"> of {show(limit)}</span>}
      </dd>
      {share === null ? (
        <p className="mt-1 truncate text-xs text-faint">{note}</p>
      ) : (
        <div
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(share * 100)}
          className="mt-1.5 h-1.5 overflow-hidden rounded-full bg-active"
        >
          <div
            className={cn('h-full rounded-full', share > 0.9 ? 'bg-danger' : share > 0.7 ? 'bg-amber' : 'bg-accent')}
            style={{ width: `${Math.max(share * 100, used === 0 ? 0 : 1.5).toFixed(1)}%` }}
          />
        </div>
      )}
    </div>
  )
}
