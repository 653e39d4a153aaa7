import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import { cn } from '@/lib/cn'
import { useStyle } from './edit-context'
import { Row } from './section'
import { shownValue, stepped, typedValue } from './css-values'

interface SizeInputProps {
  id?: string
  label: string
  property: string
  value: string
  changed: boolean
  onValue: (value: string) => void
  /** The unit of a plain number. */
  unit?: string
  step?: number
  className?: string
}

/** A length that is typed or stepped with the arrow keys (Shift: by ten); applied to the page as soon as it is
 * valid. */
export function SizeInput({
  id,
  label,
  property,
  value,
  changed,
  onValue,
  unit = 'px',
  step = 1,
  className,
}: SizeInputProps) {
  const displayed = shownValue(value)
  const [draft, setDraft] = useState(displayed)
  const focused = useRef(false)
  const valid = draft.trim() === '' || CSS.supports(property, typedValue(draft, unit))
  useEffect(() => {
    if (!focused.current) setDraft(displayed)
  }, [displayed])
  const type = (text: string) => {
    setDraft(text)
    const next = typedValue(text, unit)
    if (text.trim() !== '' && CSS.supports(property, next)) onValue(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = numberChange(event, step)
    const next = by === undefined ? null : stepped(draft, by)
    if (next === null) return
    event.preventDefault()
    type(next)
  }
  return (
    <input
      id={id}
      aria-label={label}
      aria-invalid={!valid}
      data-property={property}
      value={draft}
      spellCheck={false}
      autoComplete="off"
      onFocus={(event) => {
        focused.current = true
        event.target.select()
      }}
      onBlur={() => {
        focused.current = false
        setDraft(displayed)
      }}
      onChange={(event) => type(event.target.value)}
      onKeyDown={onKeyDown}
      className={cn(
        'h-8 w-full min-w-0 rounded-md border border-line-strong bg-bg px-2 text-[12.5px] tabular-nums outline-none focus:border-accent focus:ring-2 focus:ring-accent/15 aria-invalid:border-danger',
        changed && 'border-accent/60',
        className,
      )}
    />
  )
}

/** The change of a number by an arrow key, with Shift by ten steps. Undefined for other keys. */
function numberChange(event: KeyboardEvent, step: number): number | undefined {
  const by = event.shiftKey ? 10 * step : step
  if (event.key === 'ArrowUp') return by
  return event.key === 'ArrowDown' ? -by : undefined
}

/** A row with a length. */
export function SizeField({
  label,
  property,
  shownAs,
  unit,
  step,
}: {
  label: string
  property: string
  shownAs?: string
  unit?: string
  step?: number
}) {
  const { value, changed, set, reset } = useStyle(property, shownAs)
  const id = useId()
  return (
    <Row label={label} changed={changed} onReset={reset} htmlFor={id}>
      <SizeInput
        id={id}
        label={label}
        property={property}
        value={value}
        changed={changed}
        onValue={(next) => set(property, next)}
        {...(unit !== undefined && { unit })}
        {...(step !== undefined && { step })}
      />
    </Row>
  )
}
