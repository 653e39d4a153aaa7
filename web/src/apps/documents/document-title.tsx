import { useRef, useState } from 'react'
import { useSelected } from '@outlast/sdk/react'
import { complain } from '@/components/toast'
import { UNTITLED } from '@/lib/format'
import { client } from '@/lib/queries'
import { useDocumentRoom } from './document-context'
import { grow, useGrowing } from './editor/auto-height'
import { useDocumentData } from './use-document'

/** The title over the text, edited in place. A text that begins with its title as a heading needs no second one. */
export function DocumentTitle() {
  const { store } = useDocumentRoom()
  const repeated = useSelected(store, ({ document, content }) => {
    const first = content.sections[content.order[0] ?? '']
    return first?.level === 1 && first.heading.trim() === document?.title.trim()
  })
  return repeated ? null : <Title />
}

function Title() {
  const { documentId, mayEdit } = useDocumentRoom()
  const title = useDocumentData()?.title ?? ''
  const [typed, setTyped] = useState<string | null>(null)
  const box = useRef<HTMLTextAreaElement>(null)
  useGrowing(box)
  const save = () => {
    const wanted = typed?.replaceAll(/\s+/g, ' ').trim() ?? ''
    if (wanted === '' || wanted === title) return setTyped(null)
    client.documents.rename(documentId, wanted).then(
      () => setTyped(null),
      (error: Error) => complain(error),
    )
  }
  const look =
    'w-full text-[2rem] leading-tight font-semibold tracking-tight [overflow-wrap:anywhere] max-md:text-[1.6rem]'
  return (
    <div className="block-row pb-3">
      <div className="block-main">
        {mayEdit ? (
          <textarea
            ref={box}
            aria-label="Title"
            rows={1}
            maxLength={200}
            placeholder={UNTITLED}
            className={`block-writing ${look}`}
            value={typed ?? title}
            onChange={(event) => {
              setTyped(event.target.value.replaceAll('\n', ' '))
              grow(event.target)
            }}
            onBlur={save}
            onKeyDown={(event) => {
              if (event.key === 'Enter') event.currentTarget.blur()
              if (event.key !== 'Escape') return
              setTyped(null)
              event.currentTarget.blur()
            }}
          />
        ) : (
          <p className={look}>{title}</p>
        )}
      </div>
    </div>
  )
}
