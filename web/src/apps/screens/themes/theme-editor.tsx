import { ArrowLeft, Moon, Sun, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { ThemeTokens } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { cn } from '@/lib/cn'
import { contrast, hexOf, READABLE } from './theme-colours'
import { ThemeSample } from './theme-sample'

type Mode = keyof ThemeTokens

const GROUPS: [title: string, tokens: string[]][] = [
  ['Page', ['background', 'foreground', 'muted', 'muted-foreground', 'border']],
  ['Brand', ['primary', 'primary-foreground', 'secondary', 'secondary-foreground', 'accent', 'accent-foreground']],
  ['Surfaces', ['card', 'card-foreground', 'popover', 'popover-foreground', 'input', 'ring', 'destructive']],
  ['Charts', ['chart-1', 'chart-2', 'chart-3', 'chart-4', 'chart-5']],
]

interface EditorProps {
  base: ThemeTokens
  onTry: (tokens: ThemeTokens) => void
  onBack: () => void
  onApply: (tokens: ThemeTokens) => void
}

/** A custom theme: every token for dark and light; the frame previews each change at once. */
export function ThemeEditor({ base, onTry, onBack, onApply }: EditorProps) {
  const [tokens, setTokens] = useState<ThemeTokens>(() => ({ light: { ...base.light }, dark: { ...base.dark } }))
  const [mode, setMode] = useState<Mode>('dark')
  const set = (name: string, value: string, both = false) => {
    const next = {
      light: both || mode === 'light' ? { ...tokens.light, [name]: value } : tokens.light,
      dark: both || mode === 'dark' ? { ...tokens.dark, [name]: value } : tokens.dark,
    }
    setTokens(next)
    onTry(next)
  }
  const modeTokens = tokens[mode]
  return (
    <>
      <header className="flex items-center gap-1.5 px-2.5 pt-2.5 pb-2">
        <IconButton label="Back to the themes" size="icon-sm" onClick={onBack}>
          <ArrowLeft />
        </IconButton>
        <h2 className="flex-1 font-semibold">Your own theme</h2>
        <Modes mode={mode} onMode={setMode} />
      </header>
      <div className="px-4 pb-2">
        <ThemeSample tokens={modeTokens} />
      </div>
      <div className="min-h-0 flex-1 space-y-4 overflow-y-auto px-4 pb-4">
        {GROUPS.map(([title, names]) => (
          <section key={title}>
            <h3 className="mb-1 text-xs font-medium text-faint">{title}</h3>
            {names.map((name) => (
              <Token key={`${mode} ${name}`} name={name} tokens={modeTokens} onValue={(value) => set(name, value)} />
            ))}
          </section>
        ))}
        <section>
          <h3 className="mb-1 text-xs font-medium text-faint">Shape</h3>
          <Radius value={modeTokens['radius'] ?? '0.625rem'} onValue={(value) => set('radius', value, true)} />
        </section>
      </div>
      <footer className="flex items-center gap-2 border-t border-line px-4 py-2.5">
        <span className="flex-1 text-xs text-faint">Saved with this screen</span>
        <Button size="sm" onClick={onBack}>
          Discard
        </Button>
        <Button size="sm" look="primary" onClick={() => onApply(tokens)}>
          Use theme
        </Button>
      </footer>
    </>
  )
}

function Modes({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  const modes: [Mode, string, typeof Sun][] = [
    ['light', 'Light', Sun],
    ['dark', 'Dark', Moon],
  ]
  return (
    <div role="group" aria-label="Light or dark" className="flex gap-0.5 rounded-lg bg-hover p-0.5">
      {modes.map(([name, label, Icon]) => (
        <button
          key={name}
          aria-pressed={mode === name}
          onClick={() => onMode(name)}
          className={cn(
            'flex h-6 items-center gap-1.5 rounded-md px-2 text-xs [&_svg]:size-3.5',
            mode === name ? 'bg-raised font-medium shadow-sm' : 'text-muted hover:text-fg',
          )}
        >
          <Icon aria-hidden />
          {label}
        </button>
      ))}
    </div>
  )
}

/** The background of a text colour, or null if it is not a text colour. */
const behind = (name: string): string | null =>
  name === 'foreground' ? 'background' : name.endsWith('-foreground') ? name.replace(/-foreground$/, '') : null

interface TokenProps {
  name: string
  tokens: Record<string, string>
  onValue: (value: string) => void
}

function Token({ name, tokens, onValue }: TokenProps) {
  const value = tokens[name] ?? ''
  const [text, setText] = useState(value)
  const [before, setBefore] = useState(value)
  if (before !== value) {
    setBefore(value)
    setText(value)
  }
  const hex = hexOf(value)
  const wrong = text !== '' && !CSS.supports('color', text)
  const ground = hexOf(tokens[behind(name) ?? ''] ?? '')
  const ratio = hex !== null && ground !== null ? contrast(hex, ground) : null
  return (
    <div className="flex h-8 items-center gap-2.5">
      <input
        type="color"
        aria-label={`Colour of ${name}`}
        value={hex ?? '#000000'}
        onChange={(event) => onValue(event.target.value)}
        className="size-6 shrink-0 cursor-pointer appearance-none overflow-hidden rounded-md border border-line-strong bg-transparent p-0 [&::-webkit-color-swatch]:border-0 [&::-webkit-color-swatch-wrapper]:p-0"
      />
      <span className="min-w-0 flex-1 truncate">{name}</span>
      {ratio !== null && ratio < READABLE && (
        <span
          title={`Contrast ${ratio.toFixed(1)}; text needs ${READABLE}`}
          className="flex items-center gap-1 text-xs text-warn"
        >
          <TriangleAlert className="size-3.5" aria-hidden />
          <span className="sr-only">Hard to read:</span>
          {ratio.toFixed(1)}
        </span>
      )}
      <input
        aria-label={name}
        aria-invalid={wrong}
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          if (CSS.supports('color', event.target.value)) onValue(event.target.value)
        }}
        className={cn(
          'h-7 w-40 rounded-md border border-line bg-bg px-2 font-mono text-[11.5px] outline-none focus:border-accent',
          wrong && 'border-danger',
        )}
      />
    </div>
  )
}

function Radius({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  const rem = Number.parseFloat(value) || 0
  return (
    <label className="flex h-8 items-center gap-2.5">
      <span className="flex-1">radius</span>
      <input
        type="range"
        min={0}
        max={1.5}
        step={0.125}
        value={rem}
        onChange={(event) => onValue(`${event.target.value}rem`)}
        className="w-28 accent-(--accent)"
      />
      <span className="w-16 text-right font-mono text-[11.5px] text-muted">{rem}rem</span>
    </label>
  )
}
