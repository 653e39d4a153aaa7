import { SquareDashedMousePointer, X } from 'lucide-react'
import { cn } from '@/lib/cn'

interface CaptureChipsProps {
  captures: readonly { label: string }[]
  onRemove?: (at: number) => void
  className?: string
}

/** Captured elements by their labels. */
export function CaptureChips({ captures, onRemove, className }: CaptureChipsProps) {
  return (
    <ul aria-label="Captured elements" className={cn('flex flex-wrap gap-1.5', className)}>
      {captures.map(({ label }, at) => (
        <li
          key={at}
          data-capture
          className="flex max-w-full items-center gap-1.5 rounded-lg border border-line bg-accent-soft py-1 pr-2 pl-2 text-xs"
        >
          <SquareDashedMousePointer className="size-3.5 shrink-0 text-link" aria-hidden />
          <span className="truncate font-mono">{label}</span>
          {onRemove !== undefined && (
            <button
              aria-label={`Remove ${label}`}
              className="-mr-0.5 rounded text-faint hover:text-fg"
              onClick={() => onRemove(at)}
            >
              <X className="size-3" />
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
