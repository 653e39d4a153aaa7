import {
  AlignHorizontalDistributeCenter,
  AlignHorizontalJustifyCenter,
  AlignHorizontalJustifyEnd,
  AlignHorizontalJustifyStart,
  AlignVerticalJustifyCenter,
  AlignVerticalJustifyEnd,
  AlignVerticalJustifyStart,
  ArrowDown,
  ArrowRight,
  EyeOff,
  LayoutGrid,
  Square,
  StretchVertical,
  TextCursorInput,
  UnfoldHorizontal,
} from 'lucide-react'
import { BoxEditor } from './box-editor'
import { ChoiceField } from './choice-field'
import { useStyle } from './edit-context'
import { Section } from './section'
import { SizeField } from './size-field'
import { Row } from './section'
import { useId } from 'react'
import { Input } from '@/components/field'

const DISPLAYS = [
  { value: 'block', label: 'Block', icon: <Square aria-hidden /> },
  { value: 'flex', label: 'Row or column (flex)', icon: <UnfoldHorizontal aria-hidden /> },
  { value: 'grid', label: 'Grid', icon: <LayoutGrid aria-hidden /> },
  { value: 'inline-block', label: 'Inline', icon: <TextCursorInput aria-hidden /> },
  { value: 'none', label: 'Hidden', icon: <EyeOff aria-hidden /> },
]
const DIRECTIONS = [
  { value: 'row', label: 'Row', icon: <ArrowRight aria-hidden /> },
  { value: 'column', label: 'Column', icon: <ArrowDown aria-hidden /> },
]
const JUSTIFY = [
  { value: 'flex-start', label: 'Start', icon: <AlignHorizontalJustifyStart aria-hidden /> },
  { value: 'center', label: 'Centre', icon: <AlignHorizontalJustifyCenter aria-hidden /> },
  { value: 'flex-end', label: 'End', icon: <AlignHorizontalJustifyEnd aria-hidden /> },
  { value: 'space-between', label: 'Space between', icon: <AlignHorizontalDistributeCenter aria-hidden /> },
]
const ALIGN = [
  { value: 'flex-start', label: 'Start', icon: <AlignVerticalJustifyStart aria-hidden /> },
  { value: 'center', label: 'Centre', icon: <AlignVerticalJustifyCenter aria-hidden /> },
  { value: 'flex-end', label: 'End', icon: <AlignVerticalJustifyEnd aria-hidden /> },
  { value: 'stretch', label: 'Stretch', icon: <StretchVertical aria-hidden /> },
]

/** The layout of an element, its size and its spacing. */
export function LayoutSection() {
  const display = useStyle('display').value
  const flex = display.endsWith('flex')
  const grid = display.endsWith('grid')
  return (
    <Section title="Layout">
      <ChoiceField label="Display" property="display" choices={DISPLAYS} same={SAME} />
      {flex && <ChoiceField label="Direction" property="flex-direction" choices={DIRECTIONS} />}
      {grid && <Columns />}
      {(flex || grid) && (
        <>
          <ChoiceField label="Justify" property="justify-content" choices={JUSTIFY} same={{ normal: 'flex-start' }} />
          <ChoiceField label="Align items" property="align-items" choices={ALIGN} same={{ normal: 'stretch' }} />
          <SizeField label="Gap" property="gap" shownAs="row-gap" />
        </>
      )}
      <SizeField label="Width" property="width" />
      <SizeField label="Height" property="height" />
      <SizeField label="Max width" property="max-width" />
      <BoxEditor kind="padding" label="Padding" />
      <BoxEditor kind="margin" label="Margin" />
    </Section>
  )
}

const SAME = { 'list-item': 'block', 'inline-flex': 'flex', 'inline-grid': 'grid', inline: 'inline-block' }

/** Columns of equal width. */
function Columns() {
  const { value, changed, set, reset } = useStyle('grid-template-columns')
  const id = useId()
  const count = /^repeat\((\d+)/.exec(value)?.[1] ?? String(value.split(' ').filter((one) => one !== '').length)
  const choose = (text: string) => {
    const wanted = Number(text)
    if (Number.isInteger(wanted) && wanted >= 1 && wanted <= 12)
      set('grid-template-columns', `repeat(${wanted}, minmax(0, 1fr))`)
  }
  return (
    <Row label="Columns" changed={changed} onReset={reset} htmlFor={id}>
      <Input
        id={id}
        type="number"
        min={1}
        max={12}
        data-property="grid-template-columns"
        value={count}
        onChange={(event) => choose(event.target.value)}
        className="h-8 rounded-md px-2 text-[12.5px]"
      />
    </Row>
  )
}
