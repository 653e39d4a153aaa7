/** What a list or page shows in place of its content: while it loads, and while there is none. */
import type { ReactNode } from 'react'
import { cn } from '@/lib/cn'

export const Skeleton = ({ className }: { className?: string }) => (
  <div aria-hidden className={cn('animate-pulse rounded-md bg-active', className)} />
)

export function SkeletonRows({ rows, className }: { rows: number; className: string }) {
  return (
    <div role="status" aria-label="Loading" className="space-y-2">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} className={className} />
      ))}
    </div>
  )
}

interface EmptyProps {
  icon?: ReactNode
  title: string
  children?: ReactNode
  action?: ReactNode
  className?: string
}

export function Empty({ icon, title, children, action, className }: EmptyProps) {
  return (
    <div className={cn('flex flex-col items-center px-6 py-12 text-center', className)}>
      {icon !== undefined && (
        <div className="mb-4 grid size-11 place-items-center rounded-2xl border border-line bg-side text-muted [&_svg]:size-5">
          {icon}
        </div>
      )}
      <h2 className="text-[15px] font-semibold">{title}</h2>
      {children !== undefined && <p className="mt-1.5 max-w-sm text-muted">{children}</p>}
      {action !== undefined && <div className="mt-5">{action}</div>}
    </div>
  )
}
