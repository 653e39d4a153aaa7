import { cn } from '@/lib/cn'

export const Mark = ({ className }: { className?: string }) => (
  <img src="/icon.svg" alt="" className={cn('size-6', className)} />
)
