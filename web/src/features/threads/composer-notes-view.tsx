import type { Model } from '@outlast/sdk'
import { plural } from '@/lib/format'
import type { ComposerNote } from './composer-notes'

interface ComposerNotesProps {
  note: ComposerNote | null
  problem: string | null
  onChoose: (modelId: string) => void
}

/** Notes below the message box. */
export function ComposerNotes({ note, problem, onChoose }: ComposerNotesProps) {
  return (
    <div aria-live="polite">
      {problem !== null && <p className="px-4 pb-1.5 text-xs text-warn">{problem}</p>}
      {note !== null && (
        <p
          data-note={note.soft ? 'soft' : 'hard'}
          className="flex flex-wrap items-center gap-x-2 gap-y-1 px-4 pb-1.5 text-xs text-warn"
        >
          <span>{note.text}</span>
          {note.model !== null && <SwitchModel model={note.model} onChoose={onChoose} />}
        </p>
      )}
    </div>
  )
}

interface SwitchModelProps {
  model: Model
  onChoose: (modelId: string) => void
}

const SwitchModel = ({ model: { id, label, credits }, onChoose }: SwitchModelProps) => (
  <button className="rounded font-medium text-link underline underline-offset-2" onClick={() => onChoose(id)}>
    Use {label} ({credits === 0 ? 'free' : plural(credits, 'credit')})
  </button>
)
