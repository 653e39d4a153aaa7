import type { ReactNode } from 'react'

interface OnlyForMeProps {
  own: boolean
  /** Null: the person has no choice. */
  onOwn: ((own: boolean) => void) | null
  children: ReactNode
}

/** Whether something is saved for the person alone. */
export const OnlyForMe = ({ own, onOwn, children }: OnlyForMeProps) => (
  <label className="flex items-center gap-2 pointer-coarse:py-1">
    <input
      type="checkbox"
      className="accent-accent"
      checked={own}
      disabled={onOwn === null}
      onChange={() => onOwn?.(!own)}
    />
    {children}
  </label>
)
