import {
  AlignCenter,
  AlignJustify,
  AlignLeft,
  AlignRight,
  CaseUpper,
  Italic,
  Strikethrough,
  Type,
  Underline,
} from 'lucide-react'
import { ChoiceField } from './choice-field'
import { ColorField } from './color-field'
import { PresetField } from './preset-field'
import { FONTS, FONT_SIZES, LINE_HEIGHTS, TRACKING, WEIGHTS } from './presets'
import { Section } from './section'

const ALIGN = [
  { value: 'left', label: 'Left', icon: <AlignLeft aria-hidden /> },
  { value: 'center', label: 'Centre', icon: <AlignCenter aria-hidden /> },
  { value: 'right', label: 'Right', icon: <AlignRight aria-hidden /> },
  { value: 'justify', label: 'Justified', icon: <AlignJustify aria-hidden /> },
]
const STYLE = [
  { value: 'normal', label: 'Upright', icon: <Type aria-hidden /> },
  { value: 'italic', label: 'Italic', icon: <Italic aria-hidden /> },
]
const LINES = [
  { value: 'none', label: 'None', icon: <Type aria-hidden /> },
  { value: 'underline', label: 'Underlined', icon: <Underline aria-hidden /> },
  { value: 'line-through', label: 'Strikethrough', icon: <Strikethrough aria-hidden /> },
]
const CASES = [
  { value: 'none', label: 'As written', icon: <Type aria-hidden /> },
  { value: 'uppercase', label: 'Capitals', icon: <CaseUpper aria-hidden /> },
]

/** Font, size, weight, lines, alignment. */
export const TypographySection = () => (
  <Section title="Typography">
    <PresetField label="Font" property="font-family" presets={FONTS} free={false} />
    <PresetField label="Size" property="font-size" presets={FONT_SIZES} />
    <PresetField label="Weight" property="font-weight" presets={WEIGHTS} unit="" step={100} />
    <PresetField label="Line height" property="line-height" presets={LINE_HEIGHTS} />
    <PresetField label="Spacing" property="letter-spacing" presets={TRACKING} unit="em" step={0.01} />
    <ColorField label="Colour" property="color" />
    <ChoiceField label="Align" property="text-align" choices={ALIGN} same={{ start: 'left', end: 'right' }} />
    <ChoiceField label="Style" property="font-style" choices={STYLE} />
    <ChoiceField label="Decoration" property="text-decoration-line" choices={LINES} />
    <ChoiceField label="Case" property="text-transform" choices={CASES} />
  </Section>
)
