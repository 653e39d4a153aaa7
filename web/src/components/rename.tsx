import { useState } from 'react'

interface RenameProps {
  title: string
  label?: string
  /** Called with a new, non-empty title. */
  onRename: (title: string) => void
  /** Renamed or cancelled. */
  onDone: () => void
}

/** A title that is being edited: Enter, or moving the focus away, saves it; Escape cancels. */
export function Rename({ title, label = 'Title', onRename, onDone }: RenameProps) {
  const [typed, setTyped] = useState(title)
  const save = () => {
    onDone()
    const wanted = typed.trim()
    if (wanted !== '' && wanted !== title) onRename(wanted)
  }
  return (
    <input
      autoFocus
      aria-label={label}
      className="h-7 w-full max-w-md rounded-md border border-accent bg-bg px-2 font-semibold outline-none"
      value={typed}
      maxLength={200}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') save()
        if (event.key === 'Escape') onDone()
      }}
    />
  )
}
