import type { ServiceState } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { lookOfService } from './sandbox-state'

/** One declared service; the first line of its error is shown, the rest is in its log. */
export function ServiceRow({ service, onLogs }: { service: ServiceState; onLogs: () => void }) {
  const { label, dot } = lookOfService(service)
  const trouble = service.state === 'healthy' ? '' : (service.error ?? '').split('\n')[0]
  return (
    <li data-service={service.name} data-state={service.state} className="flex items-center gap-2.5 py-1">
      <span aria-hidden className={cn('size-2 shrink-0 rounded-full', dot)} />
      <span className="font-medium">{service.name}</span>
      <span className="font-mono text-xs text-faint">:{service.port}</span>
      <span className="min-w-0 flex-1 truncate text-xs text-muted">
        {label}
        {service.restarts > 0 && ` · restarted ${plural(service.restarts, 'time')}`}
        {trouble !== '' && <span className={service.state === 'failed' ? 'text-danger' : ''}> · {trouble}</span>}
      </span>
      <button className="shrink-0 text-xs text-link underline underline-offset-2" onClick={onLogs}>
        Log<span className="sr-only"> of {service.name}</span>
      </button>
    </li>
  )
}
