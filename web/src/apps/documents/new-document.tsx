import { FileUp, Sparkles, SquarePen } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { DocumentView } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { complain } from '@/components/toast'
import { useFormDraft } from '@/lib/form-draft'
import { UNTITLED } from '@/lib/format'
import { client } from '@/lib/queries'
import { putDocument } from './documents'
import { MarkdownInput } from './markdown-input'
import { titleOf } from './markdown-files'
import { STARTER } from './starter'

/** Creates documents and opens them. */
export function useCreating(projectId: string) {
  const [, navigate] = useLocation()
  const [busy, setBusy] = useState(false)
  const create = async (body: { title: string; markdown?: string }): Promise<void> => {
    setBusy(true)
    try {
      const { sections: _, ...document }: DocumentView = await client.documents.create(projectId, body)
      putDocument(document)
      navigate(`/documents/${document.id}`)
    } finally {
      setBusy(false)
    }
  }
  return { busy, create }
}

interface ImportDialogProps {
  projectId: string
  open: boolean
  onClose: () => void
  /** The content of a file that was dropped on the page. */
  given: { text: string; name: string | null }
}

export function ImportDialog({ projectId, open, onClose, given }: ImportDialogProps) {
  const { busy, create } = useCreating(projectId)
  const [kept, setKept] = useFormDraft(`import ${projectId}`)
  const begun = given.text === '' && kept !== null ? { text: kept, name: null } : null
  const [typed, setTyped] = useState<{ text: string; name: string | null } | null>(begun)
  const [title, setTitle] = useState<string | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const { text, name } = typed ?? given
  const guessed = text.trim() === '' ? '' : titleOf(text, name)
  const type = (next: string, from: string | null) => {
    setTyped({ text: next, name: from ?? name })
    setKept(next === '' ? null : next)
  }
  const done = () => {
    setError(null)
    create({ title: (title ?? guessed).trim() || UNTITLED, markdown: text }).then(() => setKept(null), setError)
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Import Markdown"
      description="Headings become sections; paragraphs, lists, tables and code become blocks."
      className="sm:ml-[-18rem] sm:w-[36rem]"
    >
      <MarkdownInput text={text} onText={type} />
      <div className="mt-4">
        <Field label="Title">
          <Input
            value={title ?? guessed}
            maxLength={200}
            placeholder="Taken from the first heading"
            onChange={(event) => setTitle(event.target.value)}
          />
        </Field>
      </div>
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

interface FirstDocumentProps {
  projectId: string
  onImport: () => void
}

/** Three ways to create a first document. */
export function FirstDocument({ projectId, onImport }: FirstDocumentProps) {
  const { busy, create } = useCreating(projectId)
  return (
    <div className="mx-auto w-full max-w-3xl px-4 pt-[8vh] pb-8 sm:pt-[14vh]">
      <div className="mb-7 text-center">
        <h2 className="text-2xl font-semibold tracking-tight">Write together, with the help of an agent</h2>
        <p className="mx-auto mt-1.5 max-w-lg text-muted">
          A document is Markdown in sections. Comment on it, assign comments to the agent, and accept or reject each
          edit it proposes. You can view and undo every change.
        </p>
      </div>
      <div className="grid gap-3 sm:grid-cols-3">
        <Way
          icon={<SquarePen />}
          title="New document"
          busy={busy}
          onSelect={() => create({ title: UNTITLED }).catch(complain)}
        >
          Start with an empty page.
        </Way>
        <Way icon={<FileUp />} title="Import Markdown" onSelect={onImport}>
          Choose, drop or paste a file.
        </Way>
        <Way
          icon={<Sparkles />}
          title="Try an example"
          busy={busy}
          onSelect={() => create({ title: 'A plan for the summer release', markdown: STARTER }).catch(complain)}
        >
          A short plan to edit, comment on and ask about.
        </Way>
      </div>
    </div>
  )
}

interface WayProps {
  icon: ReactNode
  title: string
  busy?: boolean
  onSelect: () => void
  children: ReactNode
}

const Way = ({ icon, title, busy = false, onSelect, children }: WayProps) => (
  <button
    className="flex flex-col items-start rounded-2xl border border-line bg-raised p-4 text-left transition-[border-color,box-shadow] hover:border-line-strong hover:shadow-pop disabled:opacity-50"
    disabled={busy}
    onClick={onSelect}
  >
    <span className="mb-3 grid size-9 place-items-center rounded-xl bg-accent-soft text-link [&_svg]:size-4.5">
      {icon}
    </span>
    <span className="font-medium">{title}</span>
    <span className="mt-0.5 text-[13px] text-muted">{children}</span>
  </button>
)
