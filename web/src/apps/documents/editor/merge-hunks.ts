/** Two changes of one text, place by place. Pure. */
import type { MergeHunk } from '@outlast/sdk'
import type { Meeting } from './editor-session'

export type Choice = 'current' | 'wanted' | 'both'

/** The places as the server found them. Where the text was typed on since, there is one place: all of it. */
export function hunksOf({ base, current, wanted, hunks }: Meeting, mine: string): readonly MergeHunk[] {
  if (hunks.length > 0 && wanted.trimEnd() === mine.trimEnd()) return hunks
  return [{ kind: 'conflict', base, current, wanted: mine }]
}

/** The text that the choices make; where nothing is chosen, one's own words stand. */
export function composed(hunks: readonly MergeHunk[], choices: Readonly<Record<number, Choice>>): string {
  return hunks.map((hunk, at) => chosen(hunk, choices[at] ?? 'wanted')).join('')
}

function chosen({ kind, base, current, wanted }: MergeHunk, choice: Choice): string {
  switch (kind) {
    case 'same':
      return base === '' ? current : base
    case 'current':
      return current
    case 'wanted':
      return wanted
    case 'both':
      return wanted
    case 'conflict':
      if (choice !== 'both') return choice === 'current' ? current : wanted
      return /\s$/.test(current) || /^\s/.test(wanted) || current === '' ? current + wanted : `${current} ${wanted}`
  }
}
