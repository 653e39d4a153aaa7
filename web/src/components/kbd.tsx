import type { ReactNode } from 'react'
import { cn } from '@/lib/cn'

export const Kbd = ({ children, className }: { children: ReactNode; className?: string }) => (
  <kbd
    className={cn(
      'inline-flex pointer-coarse:hidden h-4.5 min-w-4.5 items-center justify-center rounded border border-line-strong px-1 font-sans text-[10.5px] text-faint',
      className,
    )}
  >
    {children}
  </kbd>
)
