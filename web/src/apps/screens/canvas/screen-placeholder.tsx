import type { CSSProperties } from 'react'
import type { ScreenData, Theme, ThemeTokens } from '@outlast/sdk'

const FALLBACK: Record<string, string> = {
  background: '#0b0c0f',
  foreground: '#f4f4f5',
  card: '#15171c',
  border: '#2a2d34',
  muted: '#1c1f25',
  'muted-foreground': '#8d929c',
  primary: '#e7e8ea',
  accent: '#23262d',
  radius: '0.625rem',
}

/** The colours of a screen whose app is not shown: the dark colours of its theme, like the app's own. */
export function tokensOf(screen: Pick<ScreenData, 'theme' | 'theme_tokens'>, themes: ReadonlyMap<string, ThemeTokens>) {
  const theme = screen.theme_tokens ?? themes.get(screen.theme)
  return { ...FALLBACK, ...(theme?.dark ?? {}) }
}

export const themeName = (screen: Pick<ScreenData, 'theme'>, themes: ReadonlyMap<string, Theme>): string =>
  screen.theme === 'custom' ? 'Custom' : (themes.get(screen.theme)?.name ?? screen.theme)

const BAR = 'rounded-[calc(var(--radius)/1.6)]'

/** A page outline in a theme's colours. It fills its container; `unit` is the height of a line. */
export function ScreenPlaceholder({
  tokens,
  unit,
  calm = false,
}: {
  tokens: Record<string, string>
  unit: number
  calm?: boolean
}) {
  const colours = Object.fromEntries(Object.entries(tokens).map(([name, value]) => [`--${name}`, value]))
  const u = (times: number) => `${unit * times}px`
  return (
    <div
      aria-hidden
      className="absolute inset-0 overflow-hidden bg-[var(--background)]"
      style={colours as CSSProperties}
    >
      <div
        className="flex size-full flex-col"
        style={{ padding: `${u(1.6)} ${u(2.4)}`, gap: u(2.6), opacity: calm ? 0.5 : 1 }}
      >
        <div
          className="flex items-center border-b border-[var(--border)]"
          style={{ gap: u(1.4), paddingBottom: u(1.4) }}
        >
          <span className="rounded-full bg-[var(--primary)]" style={{ width: u(1.6), height: u(1.6) }} />
          <span className={`${BAR} bg-[var(--foreground)] opacity-70`} style={{ width: u(6), height: u(0.8) }} />
          <span className="flex-1" />
          <span className={`${BAR} bg-[var(--muted-foreground)] opacity-40`} style={{ width: u(4), height: u(0.7) }} />
          <span className={`${BAR} bg-[var(--muted-foreground)] opacity-40`} style={{ width: u(4), height: u(0.7) }} />
        </div>
        <div className="flex flex-col" style={{ gap: u(1.1), paddingTop: u(1.5) }}>
          <span className={`${BAR} bg-[var(--foreground)] opacity-85`} style={{ width: '46%', height: u(2) }} />
          <span className={`${BAR} bg-[var(--foreground)] opacity-85`} style={{ width: '33%', height: u(2) }} />
          <span
            className={`${BAR} mt-1 bg-[var(--muted-foreground)] opacity-45`}
            style={{ width: '54%', height: u(0.8) }}
          />
          <span className="flex" style={{ gap: u(1), marginTop: u(0.8) }}>
            <span className="rounded-[var(--radius)] bg-[var(--primary)]" style={{ width: u(8), height: u(2.5) }} />
            <span
              className="rounded-[var(--radius)] border border-[var(--border)] bg-[var(--card)]"
              style={{ width: u(8), height: u(2.5) }}
            />
          </span>
        </div>
        <div className="grid min-h-0 flex-1 grid-cols-3" style={{ gap: u(1.6) }}>
          {[0.7, 0.55, 0.62].map((width) => (
            <div
              key={width}
              className="flex flex-col rounded-[var(--radius)] border border-[var(--border)] bg-[var(--card)]"
              style={{ gap: u(1), padding: u(1.4) }}
            >
              <span className={`${BAR} bg-[var(--accent)]`} style={{ width: u(2.4), height: u(2.4) }} />
              <span
                className={`${BAR} bg-[var(--foreground)] opacity-60`}
                style={{ width: `${width * 100}%`, height: u(0.9) }}
              />
              <span
                className={`${BAR} bg-[var(--muted-foreground)] opacity-35`}
                style={{ width: '88%', height: u(0.7) }}
              />
              <span
                className={`${BAR} bg-[var(--muted-foreground)] opacity-35`}
                style={{ width: '64%', height: u(0.7) }}
              />
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}
