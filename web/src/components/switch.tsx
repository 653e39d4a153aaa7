import { cn } from '@/lib/cn'

interface SwitchProps {
  /** Read aloud: what is on. */
  label: string
  on: boolean
  disabled?: boolean
  onTurn: (on: boolean) => void
}

/** Turns one thing on or off, at once. */
export const Switch = ({ label, on, disabled = false, onTurn }: SwitchProps) => (
  <button
    type="button"
    role="switch"
    aria-label={label}
    aria-checked={on}
    disabled={disabled}
    className={cn(
      'relative h-5 w-9 shrink-0 rounded-full border transition-colors disabled:opacity-45',
      'pointer-coarse:after:absolute pointer-coarse:after:-inset-2.5 pointer-coarse:after:content-[""]',
      on ? 'border-accent bg-accent' : 'border-line-strong bg-active',
    )}
    onClick={() => onTurn(!on)}
  >
    <span
      aria-hidden
      className={cn(
        'absolute top-1/2 left-0.5 size-3.5 -translate-y-1/2 rounded-full bg-white shadow-sm ring-1 ring-black/10 transition-transform',
        on && 'translate-x-4',
      )}
    />
  </button>
)
