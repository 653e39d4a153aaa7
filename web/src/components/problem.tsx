import { CircleAlert } from 'lucide-react'
import { OutlastError } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { Button } from './button'

/** An error message with its next step. */
export function Problem({ error, retry, className }: { error: Error; retry?: () => void; className?: string }) {
  const hint = error instanceof OutlastError ? error.hint : ''
  return (
    <div
      role="alert"
      className={cn('flex gap-2.5 rounded-xl border border-danger-line bg-danger-soft px-3.5 py-2.5', className)}
    >
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-danger" aria-hidden />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className="text-danger">{error.message}</p>
        {hint !== '' && <p className="mt-0.5 text-muted">{hint}</p>}
      </div>
      {retry !== undefined && (
        <Button size="sm" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}
