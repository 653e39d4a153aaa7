import { ChevronRight, RotateCcw } from 'lucide-react'
import { useId, type ReactNode } from 'react'
import { IconButton } from '@/components/button'
import { useStored } from '@/lib/local-storage'
import { cn } from '@/lib/cn'

/** A collapsible section of the panel; this browser remembers whether it is open. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  const [closed, setClosed] = useStored(`outlast.edit.closed.${title}`)
  const id = useId()
  const open = closed === ''
  return (
    <section aria-label={title} className="border-b border-line">
      <h3>
        <button
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setClosed(open ? 'yes' : '')}
          className="flex h-10 w-full items-center gap-1.5 px-4 text-left text-[13px] font-semibold hover:bg-hover"
        >
          <ChevronRight className={cn('size-3.5 text-faint transition-transform', open && 'rotate-90')} aria-hidden />
          {title}
        </button>
      </h3>
      {open && (
        <div id={id} className="space-y-2.5 px-4 pt-0.5 pb-4">
          {children}
        </div>
      )}
    </section>
  )
}

interface RowProps {
  label: string
  changed?: boolean
  onReset?: () => void
  children: ReactNode
  /** Of the control that the label names. */
  htmlFor?: string
}

/** A label and its control; a value that differs from the source has a dot and a reset button. */
export const Row = ({ label, changed = false, onReset, children, htmlFor }: RowProps) => (
  <div className="flex min-h-8 items-center gap-2">
    <label htmlFor={htmlFor} className="flex w-24 shrink-0 items-center gap-1.5 text-[12.5px] text-muted">
      {label}
      {changed && <span aria-label="changed" className="size-1.5 rounded-full bg-accent" />}
    </label>
    <div className="flex min-w-0 flex-1 items-center gap-1.5">{children}</div>
    {onReset !== undefined && (
      <span className={cn('-mr-1.5', !changed && 'invisible')}>
        <IconButton size="icon-sm" label={`Reset ${label.toLowerCase()}`} onClick={onReset} tabIndex={changed ? 0 : -1}>
          <RotateCcw />
        </IconButton>
      </span>
    )}
  </div>
)
