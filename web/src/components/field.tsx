import type { ComponentProps, ReactNode } from 'react'
import { cn } from '@/lib/cn'

const BOX =
  'w-full rounded-lg border border-line-strong bg-bg px-3 outline-none transition-[border-color,box-shadow] focus:border-accent focus:ring-3 focus:ring-accent/15 disabled:opacity-50'

export const Input = ({ className, ...rest }: ComponentProps<'input'>) => (
  <input className={cn(BOX, 'h-9', className)} {...rest} />
)

export const TextArea = ({ className, ...rest }: ComponentProps<'textarea'>) => (
  <textarea className={cn(BOX, 'py-2', className)} {...rest} />
)

export const Select = ({ className, ...rest }: ComponentProps<'select'>) => (
  <select className={cn(BOX, 'h-9 w-auto pr-2', className)} {...rest} />
)

export function Field({ label, hint, children }: { label: string; hint?: ReactNode; children: ReactNode }) {
  return (
    <label className="block">
      <span className="mb-1.5 block font-medium">{label}</span>
      {children}
      {hint !== undefined && <span className="mt-1.5 block text-xs text-muted">{hint}</span>}
    </label>
  )
}
