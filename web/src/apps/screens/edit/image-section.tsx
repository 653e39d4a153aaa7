import { useMutation } from '@tanstack/react-query'
import { ImageUp } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { Button } from '@/components/button'
import { Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { client } from '@/lib/queries'
import { ACCEPT } from '@/features/threads/attachments'
import { ChoiceField } from './choice-field'
import { useEditing } from './edit-context'
import { ElementRefusal } from './element-refusal'
import { Row, Section } from './section'

const FITS = ['cover', 'contain', 'fill', 'none'].map((value) => ({
  value,
  label: value.replace(/^./, (first) => first.toUpperCase()),
}))

/** An image's address, alt text and fit. */
export function ImageSection() {
  const { edit } = useEditing()
  const { element, source } = edit
  if (element === null || (element.image === null && source?.attributes.src === undefined)) return null
  return (
    <Section title="Image">
      {source?.attributes.src !== undefined && (
        <Attribute name="src" label="Address" placeholder="/picture.png or https://…" />
      )}
      {source?.attributes.src?.refusal === null && <Upload />}
      {source?.attributes.alt !== undefined && (
        <Attribute name="alt" label="Alt text" placeholder="Describe the image" />
      )}
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
  if (slot.refusal !== null) return <ElementRefusal refusal={slot.refusal} />
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

/** Uploads an image. It is saved among the app's files at once, so that it stays with the app. */
function Upload() {
  const { screen, edit } = useEditing()
  const input = useRef<HTMLInputElement>(null)
  const place = useMutation({
    mutationFn: async (file: File) => {
      const { id } = await client.upload(screen.project_id, file)
      return client.edits.placePicture(screen.id, id)
    },
    onSuccess: ({ src }) => edit.session.updateAttribute('src', src),
  })
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept={ACCEPT}
        aria-label="Picture to upload"
        onChange={(event) => {
          const file = event.target.files?.[0]
          event.target.value = ''
          if (file !== undefined) place.mutate(file)
        }}
      />
      <Button size="sm" className="ml-26" busy={place.isPending} onClick={() => input.current?.click()}>
        <ImageUp />
        Upload a picture
      </Button>
      {place.error !== null && <Problem error={place.error} />}
    </>
  )
}
