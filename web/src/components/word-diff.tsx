import { diffWordsWithSpace } from 'diff'
import { memo, useMemo } from 'react'
import { cn } from '@/lib/cn'

export interface WordPiece {
  text: string
  state: 'same' | 'added' | 'removed'
}

/** How one text becomes another, word by word. Pure. Texts that share next to nothing are told as one replaced by the
 * other: a salad of single words helps nobody. */
export function wordDiff(before: string, after: string): WordPiece[] {
  if (before === after) return [{ text: after, state: 'same' }]
  const pieces = diffWordsWithSpace(before, after).map<WordPiece>(({ value, added, removed }) => ({
    text: value,
    state: added ? 'added' : removed ? 'removed' : 'same',
  }))
  const kept = pieces.reduce((sum, { text, state }) => (state === 'same' ? sum + text.trim().length : sum), 0)
  if (pieces.length < 6 || kept * 5 > Math.max(before.length, after.length)) return pieces
  return [
    { text: before, state: 'removed' },
    { text: after, state: 'added' },
  ].filter(({ text }) => text !== '') as WordPiece[]
}

const LOOKS: Record<WordPiece['state'], string> = {
  same: '',
  added: 'rounded-[3px] bg-ok-soft text-ok underline decoration-ok/40 underline-offset-3 box-decoration-clone px-px',
  removed: 'rounded-[3px] bg-danger-soft text-danger line-through decoration-danger/60 box-decoration-clone px-px',
}

interface WordDiffProps {
  before: string
  after: string
  className?: string
}

/** Markdown as it is written, with what went and what came. */
export const WordDiff = memo(function WordDiff({ before, after, className }: WordDiffProps) {
  const pieces = useMemo(() => wordDiff(before, after), [before, after])
  return (
    <div className={cn('[overflow-wrap:anywhere] whitespace-pre-wrap', className)}>
      {pieces.map(({ text, state }, place) =>
        state === 'same' ? (
          <span key={place}>{text}</span>
        ) : state === 'added' ? (
          <ins key={place} className={LOOKS.added}>
            {text}
          </ins>
        ) : (
          <del key={place} className={LOOKS.removed}>
            {text}
          </del>
        ),
      )}
    </div>
  )
})
