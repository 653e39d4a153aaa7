import { Check } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useEffect, useId, useRef, useState } from 'react'
import { Input } from '@/components/field'
import { Button } from '@/components/button'
import { cn } from '@/lib/cn'
import { useClasses, useEditing, useStyle } from './edit-context'
import { Row } from './section'
import { isClear, toHex } from './css-values'

/** Colours of a theme, in the order of the menu. */
const TOKENS = [
  'background',
  'foreground',
  'primary',
  'primary-foreground',
  'secondary',
  'secondary-foreground',
  'muted',
  'muted-foreground',
  'accent',
  'accent-foreground',
  'card',
  'card-foreground',
  'destructive',
  'border',
  'input',
  'ring',
  'chart-1',
  'chart-2',
  'chart-3',
  'chart-4',
  'chart-5',
] as const

const PREFIX: Record<string, string> = { color: 'text', 'background-color': 'bg', 'border-color': 'border' }

/** The class that sets a property to a theme colour. */
export const tokenClass = (property: string, token: string): string => `${PREFIX[property] ?? property}-${token}`

/** The theme colour that an element's classes set for a property, or undefined. */
export function tokenIn(property: string, classes: string): string | undefined {
  const names = classes.split(/\s+/)
  return TOKENS.findLast((token) => names.includes(tokenClass(property, token)))
}

const TOKEN = /^var\(--([\w-]+)\)$/

/** A colour: one of the theme, or a custom one. */
export function ColorField({
  label,
  property,
  shownAs = property,
}: {
  label: string
  property: string
  shownAs?: string
}) {
  const { edit } = useEditing()
  const { value, changed, reset } = useStyle(property, shownAs)
  const classes = useClasses()
  const id = useId()
  const { tokens } = edit.palette
  const token = TOKEN.exec(value)?.[1] ?? (changed ? undefined : tokenIn(property, classes))
  const color = token === undefined ? value : (tokens[token] ?? value)
  return (
    <Row label={label} changed={changed} onReset={reset} htmlFor={id}>
      <Popover.Root>
        <Popover.Trigger asChild>
          <button
            id={id}
            data-property={property}
            className={cn(
              'flex h-8 w-full min-w-0 items-center gap-2 rounded-md border border-line-strong bg-bg px-1.5 text-left text-[12.5px] hover:bg-hover',
              changed && 'border-accent/60',
            )}
          >
            <Swatch color={color} className="size-5" />
            <span className="truncate">{nameOf(token, color)}</span>
          </button>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content
            align="start"
            sideOffset={6}
            collisionPadding={12}
            aria-label={label}
            className="z-50 w-72 rounded-2xl border border-line bg-raised p-3.5 shadow-pop outline-none animate-in"
          >
            <Colors property={property} color={color} token={token} />
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
    </Row>
  )
}

const nameOf = (token: string | undefined, color: string): string =>
  token !== undefined
    ? token.replaceAll('-', ' ')
    : isClear(color)
      ? 'None'
      : color.startsWith('#')
        ? color
        : toHex(color)

const Swatch = ({ color, className }: { color: string; className?: string }) => (
  <span
    aria-hidden
    className={cn(
      'relative shrink-0 overflow-hidden rounded-[5px] bg-[repeating-conic-gradient(#bbb_0_25%,#fff_0_50%)] bg-[length:8px_8px] ring-1 ring-black/15 ring-inset dark:ring-white/20',
      className,
    )}
  >
    <span className="absolute inset-0" style={{ background: color }} />
  </span>
)

function Colors({ property, color, token }: { property: string; color: string; token: string | undefined }) {
  const { edit } = useEditing()
  const { set } = useStyle(property)
  const { tokens } = edit.palette
  const offered = TOKENS.filter((name) => tokens[name] !== undefined)
  return (
    <div className="space-y-3">
      {offered.length > 0 && (
        <div>
          <h4 className="mb-2 text-[11.5px] font-medium text-faint">Theme</h4>
          <div role="group" aria-label="Colours of the theme" className="grid grid-cols-7 gap-1.5">
            {offered.map((name) => (
              <button
                key={name}
                title={name}
                aria-label={name}
                aria-pressed={name === token}
                data-token={name}
                onClick={() => set(property, `var(--${name})`, { class: tokenClass(property, name) })}
                className="relative grid aspect-square place-items-center rounded-md"
              >
                <Swatch color={tokens[name] ?? ''} className="absolute inset-0 rounded-md" />
                {name === token && <Check className="relative size-4 text-white mix-blend-difference" aria-hidden />}
              </button>
            ))}
          </div>
        </div>
      )}
      <div>
        <h4 className="mb-2 text-[11.5px] font-medium text-faint">Custom colour</h4>
        <Custom property={property} color={color} />
      </div>
      {property !== 'color' && (
        <Button size="sm" className="w-full" onClick={() => set(property, 'transparent')}>
          None
        </Button>
      )}
    </div>
  )
}

function Custom({ property, color }: { property: string; color: string }) {
  const { set } = useStyle(property)
  const hex = toHex(color)
  const [draft, setDraft] = useState(hex)
  const focused = useRef(false)
  useEffect(() => {
    if (!focused.current) setDraft(hex)
  }, [hex])
  const valid = CSS.supports('color', draft.trim())
  const type = (text: string) => {
    setDraft(text)
    if (CSS.supports('color', text.trim())) set(property, text.trim())
  }
  return (
    <div className="flex gap-2">
      <input
        type="color"
        aria-label="Pick a colour"
        value={hex}
        onChange={(event) => type(event.target.value)}
        className="h-9 w-11 shrink-0 cursor-pointer rounded-lg border border-line-strong bg-bg p-1"
      />
      <Input
        aria-label="Colour as CSS"
        aria-invalid={!valid}
        spellCheck={false}
        value={draft}
        onFocus={() => (focused.current = true)}
        onBlur={() => ((focused.current = false), setDraft(hex))}
        onChange={(event) => type(event.target.value)}
        className="font-mono text-[12.5px] aria-invalid:border-danger"
      />
    </div>
  )
}
