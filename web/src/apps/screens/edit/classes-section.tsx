import { Plus, X } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { Button } from '@/components/button'
import { Input } from '@/components/field'
import { Problem } from '@/components/problem'
import { classesAfter } from '@outlast/sdk'
import { cn } from '@/lib/cn'
import { useEditing } from './edit-context'
import { Section } from './section'

/** The classes that will be in the source: view, remove and add them. */
export function ClassesSection() {
  const { edit, pending } = useEditing()
  const { source, session, element } = edit
  const now = source === null ? (element?.classes ?? '') : (source.classes?.value ?? '')
  const shown = pending === null ? now : classesAfter(pending, session.merge)
  const before = new Set(now.split(/\s+/))
  const names = shown.split(/\s+/).filter((one) => one !== '')
  return (
    <Section title="Classes">
      {names.length === 0 && <p className="text-[12.5px] text-muted">No classes yet.</p>}
      <ul className="flex flex-wrap gap-1" aria-label="Classes">
        {names.map((name) => (
          <li
            key={name}
            className={cn(
              'flex max-w-full items-center gap-0.5 rounded-md bg-hover py-0.5 pr-0.5 pl-1.5 font-mono text-[11.5px]',
              !before.has(name) && 'bg-accent-soft text-link',
            )}
          >
            <span className="truncate">{name}</span>
            <button
              aria-label={`Remove ${name}`}
              onClick={() => session.removeClass(name)}
              className="grid size-5 shrink-0 place-items-center rounded text-faint hover:bg-active hover:text-fg"
            >
              <X className="size-3" />
            </button>
          </li>
        ))}
      </ul>
      <Add />
    </Section>
  )
}

function Add() {
  const { edit } = useEditing()
  const [draft, setDraft] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(false)
  const add = async (event: FormEvent) => {
    event.preventDefault()
    const names = draft.split(/\s+/).filter((one) => one !== '')
    if (names.length === 0 || busy) return
    setBusy(true)
    setError(null)
    try {
      await edit.session.addClasses(names)
      setDraft('')
    } catch (reason) {
      setError(reason as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={(event) => void add(event)} className="space-y-2">
      <div className="flex gap-1.5">
        <Input
          aria-label="Add classes"
          placeholder="Add classes, such as mt-4"
          spellCheck={false}
          autoCapitalize="off"
          value={draft}
          onChange={(event) => (setDraft(event.target.value), setError(null))}
          className="h-8 rounded-md px-2 font-mono text-[12px]"
        />
        <Button type="submit" size="sm" className="h-8" busy={busy} disabled={draft.trim() === ''}>
          <Plus />
          Add
        </Button>
      </div>
      {error !== null && <Problem error={error} />}
    </form>
  )
}
