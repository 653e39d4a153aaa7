import { useEffect, useRef, useState } from 'react'
import { TextArea } from '@/components/field'
import { useEditing } from './edit-context'
import { Section } from './section'
import { ElementRefusal } from './element-refusal'

/** The text of an element that contains nothing else. */
export function TextSection() {
  const { edit, pending } = useEditing()
  const { source, element } = edit
  if (element === null) return null
  const unread = element.text === null ? null : { value: element.text, refusal: null }
  const slot = source === null ? unread : source.text
  if (slot === null) return null
  const { refusal, value } = slot
  if (refusal !== null && (refusal.code === 'no_text' || element.text === null)) return null
  return (
    <Section title="Text">
      {refusal === null ? (
        <Words
          key={`${element.loc} ${element.use}`}
          text={pending?.text ?? value ?? ''}
          onText={(text) => edit.session.updateText(text)}
        />
      ) : (
        <ElementRefusal refusal={refusal} />
      )}
    </Section>
  )
}

function Words({ text, onText }: { text: string; onText: (text: string) => void }) {
  const [draft, setDraft] = useState(text)
  const lastTyped = useRef(text)
  useEffect(() => {
    if (text === lastTyped.current) return // as it was typed here, where spaces may be pending
    lastTyped.current = text
    setDraft(text)
  }, [text])
  return (
    <TextArea
      aria-label="Text"
      data-property="text"
      rows={Math.min(6, Math.max(2, Math.ceil(draft.length / 40)))}
      value={draft}
      onChange={(event) => {
        setDraft(event.target.value)
        lastTyped.current = event.target.value.replace(/\s+/g, ' ').trim()
        onText(lastTyped.current)
      }}
      className="resize-y text-[13px]"
    />
  )
}
