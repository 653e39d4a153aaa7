import { cn } from '@/lib/cn'

/** In a history: the entry that is the present state. */
export const NowBadge = ({ className }: { className?: string }) => (
  <span className={cn('shrink-0 rounded-full bg-ok-soft px-2 py-0.5 text-xs text-ok', className)}>Now</span>
)
