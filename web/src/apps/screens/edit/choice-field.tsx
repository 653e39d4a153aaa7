import type { KeyboardEvent, ReactNode } from 'react'
import { Tip } from '@/components/tooltip'
import { cn } from '@/lib/cn'
import { useStyle } from './edit-context'
import { Row } from './section'

export interface Choice {
  value: string
  label: string
  icon?: ReactNode
}

interface ChoiceFieldProps {
  label: string
  property: string
  choices: readonly Choice[]
  /** Values that mean one of the choices. */
  same?: Record<string, string>
  shownAs?: string
}

/** A choice between a few values, as buttons. */
export function ChoiceField({ label, property, choices, same = {}, shownAs }: ChoiceFieldProps) {
  const { value, changed, set, reset } = useStyle(property, shownAs)
  const chosen = same[value] ?? value
  return (
    <Row label={label} changed={changed} onReset={reset}>
      <div
        role="radiogroup"
        aria-label={label}
        data-property={property}
        onKeyDown={walk}
        className="flex min-w-0 flex-1 gap-0.5 rounded-lg bg-hover p-0.5"
      >
        {choices.map((choice, at) => {
          const on = choice.value === chosen
          const first = at === 0 && !choices.some((one) => one.value === chosen)
          return (
            <Tip key={choice.value} label={choice.label}>
              <button
                role="radio"
                aria-checked={on}
                aria-label={choice.label}
                data-value={choice.value}
                tabIndex={on || first ? 0 : -1}
                onClick={() => set(property, choice.value)}
                className={cn(
                  'flex h-7 min-w-0 flex-1 items-center justify-center rounded-md px-1 text-[12px] transition-colors [&_svg]:size-4',
                  on ? 'bg-raised font-medium text-fg shadow-sm dark:bg-line-strong' : 'text-muted hover:text-fg',
                )}
              >
                {choice.icon ?? <span className="truncate">{choice.label}</span>}
              </button>
            </Tip>
          )
        })}
      </div>
    </Row>
  )
}

function walk(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] ?? 0
  if (by === 0) return
  event.preventDefault()
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=radio]')]
  const next = all[(all.indexOf(document.activeElement as HTMLElement) + by + all.length) % all.length]
  next?.focus()
  next?.click()
}
