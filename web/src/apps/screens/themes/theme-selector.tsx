import { useQuery } from '@tanstack/react-query'
import { Check, SlidersHorizontal } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { ScreenData, Theme, ThemeTokens } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { SkeletonRows } from '@/components/placeholders'
import { cn } from '@/lib/cn'
import { tellFrame } from '@outlast/sdk'
import { useCanvas } from '../canvas/canvas-context'
import { useLiveFrame } from '../canvas/live-frame'
import { themesQuery } from '../canvas/screens'
import { ThemeEditor } from './theme-editor'
import { ThemeSample } from './theme-sample'

/** The theme of a screen: hovering previews a theme in the frame, choosing writes it into the app. */
export function ThemeSelector({ screen, children }: { screen: ScreenData; children: ReactNode }) {
  const [open, setOpen] = useState(false)
  const [own, setOwn] = useState(false)
  return (
    <Popover.Root open={open} onOpenChange={(next) => (setOpen(next), setOwn(false))}>
      <Popover.Trigger asChild>{children}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={8}
          collisionPadding={12}
          aria-label="Theme"
          onOpenAutoFocus={(event) => {
            const chosen = (event.currentTarget as HTMLElement).querySelector<HTMLElement>('[role=radio][tabindex="0"]')
            if (chosen === null) return
            event.preventDefault()
            chosen.focus()
          }}
          className="z-50 flex max-h-[min(34rem,var(--radix-popover-content-available-height))] w-[min(25rem,calc(100vw-1.5rem))] flex-col overflow-hidden rounded-2xl border border-line bg-raised shadow-pop outline-none animate-in"
        >
          <Choosing screen={screen} own={own} onOwn={setOwn} onDone={() => setOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

interface ChoosingProps {
  screen: ScreenData
  own: boolean
  onOwn: (own: boolean) => void
  onDone: () => void
}

function Choosing({ screen, own, onOwn, onDone }: ChoosingProps) {
  const { data, error, refetch } = useQuery(themesQuery)
  const { actions } = useCanvas()
  const attempt = useTrying(screen)
  const apply = (theme: string, tokens?: ThemeTokens) => {
    attempt.keep()
    actions.setTheme(screen, theme, tokens)
  }
  if (error !== null) return <Problem className="m-3" error={error} retry={() => void refetch()} />
  if (data === undefined)
    return (
      <div className="p-3">
        <SkeletonRows rows={4} className="h-19" />
      </div>
    )
  if (own) {
    const base = screen.theme_tokens ?? data.find(({ id }) => id === screen.theme) ?? data[0]
    return (
      <ThemeEditor
        key={screen.id}
        base={base ?? { light: {}, dark: {} }}
        onTry={attempt.show}
        onBack={() => (attempt.show(null), onOwn(false))}
        onApply={(tokens) => (apply('custom', tokens), onDone())}
      />
    )
  }
  return (
    <>
      <header className="flex items-center justify-between px-4 pt-3.5 pb-2">
        <h2 className="font-semibold">Theme</h2>
        <Button size="sm" look="ghost" onClick={() => onOwn(true)}>
          <SlidersHorizontal />
          {screen.theme === 'custom' ? 'Edit your own' : 'Make your own'}
        </Button>
      </header>
      <Gallery
        screen={screen}
        themes={data}
        onTry={attempt.show}
        onChoose={(theme) => apply(theme.id)}
        onDone={onDone}
      />
    </>
  )
}

interface GalleryProps {
  screen: ScreenData
  themes: Theme[]
  onTry: (tokens: ThemeTokens | null) => void
  onChoose: (theme: Theme) => void
  onDone: () => void
}

function Gallery({ screen, themes, onTry, onChoose, onDone }: GalleryProps) {
  return (
    <div
      role="radiogroup"
      aria-label="Themes"
      className="grid min-h-0 grid-cols-2 gap-1 overflow-y-auto px-2 pb-2"
      onPointerLeave={() => onTry(null)}
      onKeyDown={(event) => walk(event, 2)}
    >
      {themes.map((theme, index) => {
        const on = theme.id === screen.theme
        const first = index === 0 && !themes.some(({ id }) => id === screen.theme)
        return (
          <button
            key={theme.id}
            role="radio"
            aria-checked={on}
            data-theme={theme.id}
            tabIndex={on || first ? 0 : -1}
            title={theme.description}
            onPointerEnter={() => onTry(theme)}
            onFocus={(event) => event.currentTarget.matches(':focus-visible') && onTry(theme)}
            onClick={() => onChoose(theme)}
            onDoubleClick={onDone}
            className={cn(
              'rounded-xl p-2 text-left transition-colors hover:bg-hover focus-visible:outline-offset-[-2px]',
              on && 'bg-active',
            )}
          >
            <ThemeSample tokens={theme.dark} />
            <span className="mt-1.5 flex items-center gap-1 px-0.5">
              <span className="min-w-0 flex-1 truncate font-medium">{theme.name}</span>
              {on && <Check className="size-4 shrink-0 text-link" aria-hidden />}
            </span>
          </button>
        )
      })}
    </div>
  )
}

/** Arrow keys move through the gallery; the focused theme is previewed in the frame. */
function walk(event: KeyboardEvent<HTMLElement>, columns: number): void {
  const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }
  const by = steps[event.key]
  if (by === undefined) return
  event.preventDefault()
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=radio]')]
  const at = all.indexOf(document.activeElement as HTMLElement)
  all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus()
}

/** The chosen theme is previewed until the app's own file contains it: otherwise the old theme would flash in
 * between. */
const WRITTEN_MS = 3_000

/** Previews a theme in the live frame and on the canvas; the preview ends when the component unmounts. */
function useTrying(screen: ScreenData): { show: (tokens: ThemeTokens | null) => void; keep: () => void } {
  const { frame, origin, screenId } = useLiveFrame()
  const { actions } = useCanvas()
  const mine = screenId === screen.id
  const current = useRef({ frame, origin, mine })
  current.current = { frame, origin, mine }
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const show = (tokens: ThemeTokens | null) => {
    const { frame, origin, mine } = current.current
    if (tokens === null && timer.current !== undefined) return actions.tryTheme(null)
    clearTimeout(timer.current)
    timer.current = undefined
    actions.tryTheme(tokens && { screenId: screen.id, tokens })
    if (mine) tellFrame(frame, origin, { outlast: 'theme', tokens })
  }
  const end = useRef(show)
  end.current = show
  useEffect(() => () => end.current(null), [])
  const keep = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(
      () => tellFrame(current.current.frame, current.current.origin, { outlast: 'theme', tokens: null }),
      WRITTEN_MS,
    )
  }
  return { show, keep }
}
