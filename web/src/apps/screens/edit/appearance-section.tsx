import { useId } from 'react'
import { ChoiceField } from './choice-field'
import { ColorField } from './color-field'
import { useStyle } from './edit-context'
import { PresetField } from './preset-field'
import { RADII, SHADOWS } from './presets'
import { Row, Section } from './section'
import { SizeField } from './size-field'

const STYLES = ['none', 'solid', 'dashed', 'dotted'].map((value) => ({
  value,
  label: value.replace(/^./, (first) => first.toUpperCase()),
}))

/** Colours, border, corners, shadow, opacity. */
export const AppearanceSection = () => (
  <Section title="Appearance">
    <ColorField label="Background" property="background-color" />
    <ColorField label="Text colour" property="color" />
    <ColorField label="Border colour" property="border-color" shownAs="border-top-color" />
    <SizeField label="Border width" property="border-width" shownAs="border-top-width" />
    <ChoiceField label="Border style" property="border-style" shownAs="border-top-style" choices={STYLES} />
    <PresetField label="Corner radius" property="border-radius" shownAs="border-top-left-radius" presets={RADII} />
    <PresetField label="Shadow" property="box-shadow" presets={SHADOWS} free={false} />
    <Opacity />
  </Section>
)

function Opacity() {
  const { value, changed, set, reset } = useStyle('opacity')
  const id = useId()
  const percent = Math.round(Number.parseFloat(value || '1') * 100)
  return (
    <Row label="Opacity" changed={changed} onReset={reset} htmlFor={id}>
      <input
        id={id}
        type="range"
        min={0}
        max={100}
        step={5}
        data-property="opacity"
        value={Number.isNaN(percent) ? 100 : percent}
        onChange={(event) => set('opacity', String(Number(event.target.value) / 100))}
        className="min-w-0 flex-1 accent-accent"
      />
      <output htmlFor={id} className="w-10 text-right text-[12.5px] text-muted tabular-nums">
        {percent}%
      </output>
    </Row>
  )
}
