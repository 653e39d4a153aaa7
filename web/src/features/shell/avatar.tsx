import { cn } from '@/lib/cn'

/** Initials on a colour that is always the same for one person. */
export function Avatar({ name, id, className }: { name: string; id: string; className?: string }) {
  const hue = [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)
  const initials = name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word[0] ?? '')
    .join('')
    .toUpperCase()
  return (
    <span
      aria-hidden
      title={name}
      style={{ background: `oklch(0.56 0.11 ${hue})` }}
      className={cn(
        'inline-grid size-7 shrink-0 place-items-center rounded-full text-[11px] font-semibold text-white select-none',
        className,
      )}
    >
      {initials === '' ? '?' : initials}
    </span>
  )
}
