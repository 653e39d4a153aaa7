import type { CSSProperties } from 'react'

/** A small sample of a theme: a card with a button, and its strongest colours. */
export function ThemeSample({ tokens }: { tokens: Record<string, string> }) {
  const colours = Object.fromEntries(Object.entries(tokens).map(([name, value]) => [`--${name}`, value]))
  return (
    <span
      aria-hidden
      style={colours as CSSProperties}
      className="flex h-19 w-full flex-col justify-between overflow-hidden rounded-[9px] border border-[var(--border)] bg-[var(--background)] p-2"
    >
      <span className="flex items-center gap-1.5">
        <span className="text-[13px] leading-none font-semibold text-[var(--foreground)] [font-family:var(--font-sans)]">
          Aa
        </span>
        <span className="h-1 w-8 rounded-full bg-[var(--muted-foreground)] opacity-60" />
      </span>
      <span className="flex items-center gap-1.5 rounded-[calc(var(--radius)*0.7)] border border-[var(--border)] bg-[var(--card)] p-1.5">
        <span className="h-3 w-7 rounded-[calc(var(--radius)*0.5)] bg-[var(--primary)]" />
        <span className="h-3 w-3 rounded-[calc(var(--radius)*0.5)] bg-[var(--accent)]" />
        <span className="flex-1" />
        {['chart-1', 'chart-2', 'chart-3'].map((name) => (
          <span key={name} className="size-1.5 rounded-full" style={{ background: `var(--${name}, var(--primary))` }} />
        ))}
      </span>
    </span>
  )
}
