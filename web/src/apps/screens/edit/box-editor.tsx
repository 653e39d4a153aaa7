import { Link2, Link2Off } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '@/components/button'
import { cn } from '@/lib/cn'
import { useEditing, useStyle, type StyleField } from './edit-context'
import { SizeInput } from './size-field'

const SIDES = ['top', 'right', 'bottom', 'left'] as const
type Side = (typeof SIDES)[number]
type Kind = 'padding' | 'margin'

const PLACE: Record<Side, string> = {
  top: 'col-start-2 row-start-1',
  right: 'col-start-3 row-start-2',
  bottom: 'col-start-2 row-start-3',
  left: 'col-start-1 row-start-2',
}

/** Padding or margin: each side separately, or all four together. */
export function BoxEditor({ kind, label }: { kind: Kind; label: string }) {
  const sides = {
    top: useSide(kind, 'top'),
    right: useSide(kind, 'right'),
    bottom: useSide(kind, 'bottom'),
    left: useSide(kind, 'left'),
  }
  const all = useStyle(kind)
  const { edit } = useEditing()
  const values = SIDES.map((side) => (all.changed && !sides[side].changed ? all.value : sides[side].value))
  const equal = values.every((value) => value === values[0])
  const [linked, setLinked] = useState<boolean | null>(null)
  const together = linked ?? false
  const setAll = (value: string) =>
    edit.session.updateStyles({
      ...Object.fromEntries(SIDES.map((side) => [`${kind}-${side}`, null])),
      [kind]: { value },
    })
  const changed = all.changed || SIDES.some((side) => sides[side].changed)
  return (
    <fieldset data-box={kind}>
      <legend className="flex w-full items-center gap-1.5 text-[12.5px] text-muted">
        {label}
        {changed && <span aria-label="changed" className="size-1.5 rounded-full bg-accent" />}
        <span className="flex-1" />
        <IconButton
          size="icon-sm"
          label={together ? 'Edit sides separately' : 'Edit all sides together'}
          aria-pressed={together}
          onClick={() => setLinked(!together)}
        >
          {together ? <Link2 /> : <Link2Off />}
        </IconButton>
      </legend>
      {together ? (
        <SizeInput
          label={`${label}, all sides`}
          property={kind}
          value={equal ? (values[0] ?? '') : ''}
          changed={changed}
          onValue={setAll}
        />
      ) : (
        <div className="grid grid-cols-3 grid-rows-3 items-center gap-1 rounded-lg border border-dashed border-line-strong bg-side p-1.5">
          <span className="col-start-2 row-start-2 grid h-7 place-items-center rounded border border-line bg-bg text-[10.5px] text-faint select-none">
            {kind === 'padding' ? 'content' : 'element'}
          </span>
          {SIDES.map((side, at) => (
            <SizeInput
              key={side}
              label={`${label}, ${side}`}
              property={`${kind}-${side}`}
              value={values[at] ?? ''}
              changed={sides[side].changed || all.changed}
              onValue={(value) => sides[side].set(`${kind}-${side}`, value)}
              className={cn('h-7 px-1 text-center', PLACE[side])}
            />
          ))}
        </div>
      )}
    </fieldset>
  )
}

const useSide = (kind: Kind, side: Side): StyleField => useStyle(`${kind}-${side}`)
