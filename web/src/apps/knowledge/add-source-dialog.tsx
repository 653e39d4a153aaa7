import { Upload } from 'lucide-react'
import { useId, useState, type FormEvent } from 'react'
import type { KnowledgeSource, NewSource, SourceKind } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Dialog } from '@/components/dialog'
import { Field, Input, Select, TextArea } from '@/components/field'
import { Problem } from '@/components/problem'
import { cn } from '@/lib/cn'
import { bytes } from '@/lib/format'
import { useFormDraft } from '@/lib/form-draft'
import { client } from '@/lib/queries'
import { KINDS } from './knowledge'

interface AddSourceDialogProps {
  projectId: string
  packages: readonly string[]
  onAdded: (source: KnowledgeSource) => void
  onClose: () => void
}

export const AddSourceDialog = ({ onClose, ...form }: AddSourceDialogProps) => (
  <Dialog
    open
    onClose={onClose}
    title="Add documentation"
    description="Agents of this project can search it. It is split at its headings and kept up to date."
  >
    <Form {...form} />
  </Dialog>
)

type Way = 'address' | 'file' | 'text'
const WAYS: [Way, string][] = [
  ['address', 'Address'],
  ['file', 'File'],
  ['text', 'Text'],
]
const FETCHED: SourceKind[] = ['markdown', 'llms_txt', 'sitemap', 'folder']

/** A form that was closed by mistake keeps its text. */
function useKept(field: string): [string, (text: string) => void] {
  const [text, setText] = useFormDraft(`source ${field}`)
  return [text ?? '', (next) => setText(next === '' ? null : next)]
}

function Form({ projectId, packages, onAdded }: Omit<AddSourceDialogProps, 'onClose'>) {
  const known = useId()
  const [way, setWay] = useState<Way>('address')
  const [name, setName] = useKept('name')
  const [location, setLocation] = useKept('location')
  const [kind, setKind] = useState<SourceKind | ''>('')
  const [text, setText] = useKept('text')
  const [file, setFile] = useState<File | null>(null)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const hasSource = { address: location.trim() !== '', file: file !== null, text: text.trim() !== '' }[way]
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      const added = await client.knowledge.add(await body())
      for (const set of [setName, setLocation, setText]) set('')
      onAdded(added)
    } catch (reason) {
      setError(reason as Error)
      setBusy(false)
    }
  }
  const body = async (): Promise<NewSource> => {
    const common = { package: name.trim(), project_id: projectId }
    if (way === 'address') return { ...common, location: location.trim(), ...(kind !== '' && { kind }) }
    if (way === 'file' && file !== null) return { ...common, text: await file.text(), name: file.name }
    return { ...common, text, name: `${name.trim()}.md` }
  }
  return (
    <form className="space-y-4" onSubmit={(event) => void submit(event)}>
      <div role="radiogroup" aria-label="Source" className="flex rounded-lg bg-active p-0.5">
        {WAYS.map(([one, label]) => (
          <button
            key={one}
            type="button"
            role="radio"
            aria-checked={way === one}
            className={cn(
              'h-8 flex-1 rounded-md text-muted',
              way === one && 'bg-raised font-medium text-fg shadow-[0_1px_2px_rgb(0_0_0/0.1)]',
            )}
            onClick={() => (setWay(one), setError(null))}
          >
            {label}
          </button>
        ))}
      </div>
      <Field
        label="Package or subject"
        hint="The name that agents look it up by, such as npm:@linear/sdk or team handbook."
      >
        <Input
          required
          maxLength={200}
          list={known}
          value={name}
          onChange={(event) => setName(event.target.value)}
          autoFocus={!matchMedia('(pointer: coarse)').matches}
        />
        <datalist id={known}>
          {packages.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </Field>
      {way === 'address' && (
        <>
          <Field
            label="Address"
            hint="A Markdown page, an llms.txt, a sitemap.xml or a folder of a repository; or a package: npm:NAME, pypi:NAME."
          >
            <Input
              required
              placeholder="https://docs.example.com/llms.txt"
              value={location}
              onChange={(event) => setLocation(event.target.value)}
            />
          </Field>
          <Field label="Type">
            <Select value={kind} onChange={(event) => setKind(event.target.value as SourceKind | '')}>
              <option value="">Detect automatically</option>
              {FETCHED.map((one) => (
                <option key={one} value={one}>
                  {KINDS[one]}
                </option>
              ))}
            </Select>
          </Field>
        </>
      )}
      {way === 'file' && <FileField file={file} onFile={setFile} />}
      {way === 'text' && (
        <Field label="Text" hint="Markdown, split at its headings.">
          <TextArea
            required
            rows={8}
            className="font-mono text-[12.5px]"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
      )}
      {error !== null && <Problem error={error} />}
      <div className="flex justify-end">
        <Button type="submit" look="primary" busy={busy} disabled={name.trim() === '' || !hasSource}>
          Add
        </Button>
      </div>
    </form>
  )
}

const FileField = ({ file, onFile }: { file: File | null; onFile: (file: File | null) => void }) => (
  <label
    className="flex cursor-pointer flex-col items-center gap-1.5 rounded-xl border border-dashed border-line-strong px-4 py-7 text-center focus-within:border-accent hover:bg-hover"
    onDragOver={(event) => event.preventDefault()}
    onDrop={(event) => (event.preventDefault(), onFile(event.dataTransfer.files[0] ?? null))}
  >
    <Upload className="size-5 text-faint" aria-hidden />
    <span className="font-medium [overflow-wrap:anywhere]">{file === null ? 'Choose a file' : file.name}</span>
    <span className="text-xs text-muted">
      {file === null ? 'Markdown, text or HTML; or drop it here' : bytes(file.size)}
    </span>
    <input
      type="file"
      aria-label="File"
      className="sr-only"
      accept=".md,.mdx,.markdown,.txt,.rst,.html,.htm,text/*"
      onChange={(event) => onFile(event.target.files?.[0] ?? null)}
    />
  </label>
)
