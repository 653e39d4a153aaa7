import { useEffect, useId, useRef, useState } from 'react'
import { Input } from '@/components/field'
import { ChoiceField } from './choice-field'
import { useEditing } from './edit-context'
import { Refused } from './refused'
import { Row, Section } from './section'

const FITS = ['cover', 'contain', 'fill', 'none'].map((value) => ({
  value,
  label: value.replace(/^./, (first) => first.toUpperCase()),
}))

/** A picture's address, words and fit. */
export function ImageSection() {
  const { edit } = useEditing()
  const { element, source } = edit
  if (element === null || (element.image === null && source?.attributes.src === undefined)) return null
  return (
    <Section title="Image">
      {source?.attributes.src !== undefined && (
        <Attribute name="src" label="Address" placeholder="/picture.png or https://…" />
      )}
      {source?.attributes.alt !== undefined && <Attribute name="alt" label="In words" placeholder="What it shows" />}
      <ChoiceField label="Fit" property="object-fit" choices={FITS} />
    </Section>
  )
}

function Attribute({ name, label, placeholder }: { name: 'src' | 'alt'; label: string; placeholder: string }) {
  const { edit, pending } = useEditing()
  const slot = edit.source?.attributes[name]
  const wanted = pending?.attributes[name]
  const value = wanted ?? slot?.value ?? ''
  const [draft, setDraft] = useState(value)
  const focused = useRef(false)
  const id = useId()
  useEffect(() => {
    if (!focused.current) setDraft(value)
  }, [value])
  if (slot === undefined) return null
  if (slot.refusal !== null) return <Refused refusal={slot.refusal} />
  const type = (text: string) => {
    setDraft(text)
    edit.session.updateAttribute(name, text.trim())
  }
  return (
    <Row label={label} changed={wanted !== undefined} onReset={() => type(slot.value ?? '')} htmlFor={id}>
      <Input
        id={id}
        data-property={name}
        placeholder={placeholder}
        spellCheck={name === 'alt'}
        value={draft}
        onFocus={() => (focused.current = true)}
        onBlur={() => (focused.current = false)}
        onChange={(event) => type(event.target.value)}
        className="h-8 rounded-md px-2 text-[12.5px]"
      />
    </Row>
  )
}
