import { useState } from 'react'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Problem } from '@/components/problem'
import { say } from '@/components/toast'
import { once } from '@/lib/idempotent-request'
import { client } from '@/lib/queries'
import { useDocumentRoom } from './document-context'
import { MarkdownInput } from './markdown-input'

interface ImportIntoProps {
  open: boolean
  onClose: () => void
}

/** Imports Markdown into the open document, at its end or in place of the whole text. */
export function ImportInto({ open, onClose }: ImportIntoProps) {
  const { documentId, store } = useDocumentRoom()
  const [text, setText] = useState('')
  const [replace, setReplace] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const done = () => {
    setBusy(true)
    setError(null)
    const body = replace ? { markdown: text, replace, seen: store.get().content.version } : { markdown: text }
    once(`import ${documentId} ${JSON.stringify(body)}`, (idempotencyKey) =>
      client.documents.import(documentId, body, { idempotencyKey }),
    )
      .then(() => {
        setText('')
        say('Imported')
        onClose()
      }, setError)
      .finally(() => setBusy(false))
  }
  return (
    <Dialog open={open} onClose={onClose} title="Import Markdown" className="sm:ml-[-18rem] sm:w-[36rem]">
      <MarkdownInput text={text} onText={setText} />
      <fieldset className="mt-4 space-y-2">
        <legend className="sr-only">Position</legend>
        {[
          [false, 'Add at the end'],
          [true, 'Replace the whole text (the history keeps the current version)'],
        ].map(([value, label]) => (
          <label key={String(value)} className="flex items-center gap-2.5">
            <input
              type="radio"
              name="import-place"
              className="accent-accent"
              checked={replace === value}
              onChange={() => setReplace(value === true)}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {error !== null && <Problem className="mt-3" error={error} />}
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" busy={busy} disabled={text.trim() === ''} onClick={done}>
          Import
        </Button>
      </div>
    </Dialog>
  )
}
