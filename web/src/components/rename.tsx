import { useState } from 'react'

interface RenameProps {
  title: string
  label?: string
  /** Called with another title that is not empty. */
  onRename: (title: string) => void
  /** Renamed, or given up. */
  onDone: () => void
}

/** A title while it is being changed: Enter, or leaving it, takes it; Escape gives up. */
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
