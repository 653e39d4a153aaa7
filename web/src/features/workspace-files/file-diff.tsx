import { useMemo } from 'react'
import { Tokens, useColoured } from '@/components/code'
import { cn } from '@/lib/cn'
import { diffLines, type DiffLine } from './checkpoints'

const LOOKS: Record<DiffLine['kind'], string> = {
  added: 'bg-added-soft',
  removed: 'bg-removed-soft',
  place: 'bg-side text-faint',
  same: '',
}
const SIGNS: Record<DiffLine['kind'], string> = { added: '+', removed: '-', place: ' ', same: ' ' }
const SIGN_LOOKS: Record<DiffLine['kind'], string> = {
  added: 'text-added',
  removed: 'text-removed',
  place: '',
  same: '',
}

/** A diff as one text: removed lines in red, added lines in green, with syntax colours. */
export function FileDiffView({ diff, path }: { diff: string; path: string }) {
  const lines = useMemo(() => diffLines(diff), [diff])
  const language = path.split('.').at(-1) ?? ''
  const old = useColoured(textOf(lines, 'before'), language)
  const now = useColoured(textOf(lines, 'after'), language)
  let [atOld, atNow] = [0, 0]
  return (
    <pre
      tabIndex={0}
      aria-label={`Changes to ${path}`}
      className="max-h-[60vh] overflow-auto border-t border-line bg-code font-mono text-xs leading-[1.6]"
    >
      <code className="block w-max min-w-full py-1">
        {lines.map((line, at) => {
          const tokens = line.kind === 'removed' ? old?.[atOld] : line.kind === 'place' ? undefined : now?.[atNow]
          if (line.before !== null) atOld += 1
          if (line.after !== null) atNow += 1
          return (
            <div key={at} data-line={line.kind} className={cn('flex pr-3 whitespace-pre', LOOKS[line.kind])}>
              <Place line={line} />
              <span className={cn('w-4 shrink-0 select-none', SIGN_LOOKS[line.kind])}>{SIGNS[line.kind]}</span>
              <span>{tokens === undefined ? line.text : <Tokens tokens={tokens} />}</span>
            </div>
          )
        })}
      </code>
    </pre>
  )
}

/** The line number: the current one, else the earlier one. Generated content, so that it is not copied. */
const Place = ({ line: { before, after } }: { line: DiffLine }) => (
  <span
    aria-hidden
    data-number={after ?? before ?? ''}
    className="mr-2 w-9 shrink-0 text-right text-faint/70 select-none before:content-[attr(data-number)]"
  />
)

const textOf = (lines: DiffLine[], side: 'before' | 'after'): string =>
  lines
    .filter((line) => line[side] !== null)
    .map(({ text }) => text)
    .join('\n')
