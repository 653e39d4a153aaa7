import { useId } from 'react'
import { Select } from '@/components/field'
import { useClasses, useStyle } from './edit-context'
import { presetIn, type Preset } from './presets'
import { Row } from './section'
import { SizeInput } from './size-field'

interface PresetFieldProps {
  label: string
  property: string
  presets: readonly Preset[]
  /** True if any other value can be typed next to the list. */
  free?: boolean
  unit?: string
  step?: number
  shownAs?: string
}

/** The steps of the theme, then any other value. */
export function PresetField({
  label,
  property,
  presets,
  free = true,
  unit = 'px',
  step = 1,
  shownAs,
}: PresetFieldProps) {
  const { value, changed, set, reset } = useStyle(property, shownAs)
  const classes = useClasses()
  const id = useId()
  const named = presets.find((one) => one.value === value) ?? (changed ? undefined : presetIn(presets, classes))
  const normal = value === 'normal' ? presets.find((one) => one.class.endsWith('-normal')) : undefined
  const chosen = named ?? normal
  const choose = (name: string) => {
    const preset = presets.find((one) => one.class === name)
    if (preset === undefined) return
    set(property, preset.value, { class: preset.class, ...(preset.css !== undefined && { css: preset.css }) })
  }
  return (
    <Row label={label} changed={changed} onReset={reset} htmlFor={id}>
      <Select
        id={id}
        data-property={property}
        value={chosen?.class ?? ''}
        onChange={(event) => choose(event.target.value)}
        className="h-8 min-w-0 flex-1 rounded-md px-2 text-[12.5px]"
      >
        {chosen === undefined && <option value="">{free ? 'Custom' : 'Other'}</option>}
        {presets.map((one) => (
          <option key={one.class} value={one.class}>
            {one.label}
          </option>
        ))}
      </Select>
      {free && (
        <SizeInput
          label={`${label}, exact value`}
          property={property}
          value={value}
          changed={changed}
          unit={unit}
          step={step}
          onValue={(next) => set(property, next)}
          className="w-20 shrink-0"
        />
      )}
    </Row>
  )
}
