import { diffWordsWithSpace } from 'diff'
import { memo, useMemo } from 'react'
import { cn } from '@/lib/cn'

interface WordPiece {
  text: string
  state: 'same' | 'added' | 'removed'
}

/** The word-by-word difference between two texts. Pure. Single unchanged words between longer changes count as changed,
 * and texts with little in common as one replacement, because many small changes are hard to read. */
export function wordDiff(before: string, after: string): WordPiece[] {
  if (before === after) return [{ text: after, state: 'same' }]
  const pieces = diffWordsWithSpace(before, after).map<WordPiece>(({ value, added, removed }) => ({
    text: value,
    state: added ? 'added' : removed ? 'removed' : 'same',
  }))
  const sameLength = pieces.reduce((sum, { text, state }) => (state === 'same' ? sum + text.trim().length : sum), 0)
  if (pieces.length < 6 || sameLength * 5 > Math.max(before.length, after.length)) return mergeShortRuns(pieces)
  return stretch(before, after)
}

interface Stretch {
  removed: string
  added: string
}

/** Joins unchanged words between two changes with them if they are shorter than both. */
function mergeShortRuns(pieces: readonly WordPiece[]): WordPiece[] {
  const done: WordPiece[] = []
  let open: Stretch = { removed: '', added: '' }
  const close = () => {
    done.push(...stretch(open.removed, open.added))
    open = { removed: '', added: '' }
  }
  pieces.forEach(({ text, state }, at) => {
    if (state !== 'same') open = { ...open, [state]: open[state] + text }
    else if (weight(open) > 0 && text.trim().length <= Math.min(weight(open), weight(changeAfter(pieces, at)), SHORT))
      open = { removed: open.removed + text, added: open.added + text }
    else {
      close()
      done.push({ text, state })
    }
  })
  close()
  return done
}

/** Longer unchanged pieces stay, regardless of the changes around them. */
const SHORT = 12

const weight = ({ removed, added }: Stretch): number => Math.max(removed.trim().length, added.trim().length)

/** The change that starts after a position. */
function changeAfter(pieces: readonly WordPiece[], at: number): Stretch {
  const found: Stretch = { removed: '', added: '' }
  for (const { text, state } of pieces.slice(at + 1, at + 3)) {
    if (state === 'same') break
    found[state] += text
  }
  return found
}

const stretch = (removed: string, added: string): WordPiece[] =>
  (
    [
      { text: removed, state: 'removed' },
      { text: added, state: 'added' },
    ] as const
  ).filter(({ text }) => text !== '')

const LOOKS: Record<WordPiece['state'], string> = {
  same: '',
  added:
    'rounded-[3px] bg-added-soft text-added underline decoration-added/40 underline-offset-3 box-decoration-clone px-px',
  removed: 'rounded-[3px] bg-removed-soft text-removed line-through decoration-removed/60 box-decoration-clone px-px',
}

interface WordDiffProps {
  before: string
  after: string
  className?: string
}

/** The Markdown source, with removed and added words. */
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
