import { useState } from 'react'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { useMayDrive } from './may-drive'
import { useModelChoice } from './model-choice'
import { useSender } from './thread-context'

export interface Suggestion {
  /** The label of the chip. */
  label: string
  /** The text that is sent. */
  text: string
}

interface SuggestionChipsProps {
  suggestions: readonly Suggestion[]
  className?: string
}

/** One click sends; nothing for users who cannot write. */
export function SuggestionChips({ suggestions, className }: SuggestionChipsProps) {
  const mayDrive = useMayDrive()
  const { send } = useSender()
  const { model } = useModelChoice()
  const [busy, setBusy] = useState(false)
  if (!mayDrive || suggestions.length === 0) return null
  const choose = (content: string) => {
    setBusy(true)
    send({ content, images: [], model: model?.id ?? null })
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return (
    <ul aria-label="Suggestions" data-suggestions className={cn('flex flex-wrap gap-1.5', className)}>
      {suggestions.map(({ label, text }) => (
        <li key={label}>
          <button
            disabled={busy}
            title={text}
            className="rounded-full border border-line px-3 py-1.5 text-[13px] text-muted transition-colors hover:border-line-strong hover:bg-hover hover:text-fg disabled:opacity-50 pointer-coarse:py-2"
            onClick={() => choose(text)}
          >
            {label}
          </button>
        </li>
      ))}
    </ul>
  )
}
