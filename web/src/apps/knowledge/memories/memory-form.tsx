import { useState } from 'react'
import { Button } from '@/components/button'
import { TextArea } from '@/components/field'
import { complain } from '@/components/toast'
import { MEMORY_CHARS } from './memories'

interface MemoryFormProps {
  label: string
  text?: string
  /** Saves the text; a rejection is shown, and the form stays open. */
  onSave: (text: string) => Promise<unknown>
  /** Saved or cancelled. */
  onDone: () => void
}

/** The text of a memory: Enter saves it, Escape cancels. */
export function MemoryForm({ label, text = '', onSave, onDone }: MemoryFormProps) {
  const [typed, setTyped] = useState(text)
  const [busy, setBusy] = useState(false)
  const wanted = typed.trim()
  const save = async () => {
    if (wanted === '' || busy) return
    if (wanted === text) return onDone()
    setBusy(true)
    await onSave(wanted).then(onDone, complain)
    setBusy(false)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextArea
        autoFocus
        aria-label={label}
        placeholder="One fact in a sentence, for example: We deploy on Fridays."
        rows={2}
        maxLength={MEMORY_CHARS}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone()
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          void save()
        }}
      />
      <div className="mt-1.5 flex items-center justify-end gap-2">
        <span className="flex-1 text-xs text-faint tabular-nums">
          {typed.length} of {MEMORY_CHARS}
        </span>
        <Button size="sm" onClick={onDone}>
          Cancel
        </Button>
        <Button size="sm" look="primary" type="submit" busy={busy} disabled={wanted === ''}>
          Save
        </Button>
      </div>
    </form>
  )
}
