/** Two changes of one text, hunk by hunk. Pure. */
import type { MergeHunk } from '@outlast/sdk'
import type { Meeting } from './editor-session'

export type Choice = 'current' | 'wanted' | 'both'

/** The hunks as the server computed them. If the text was edited since then, there is one hunk: all of it. */
export function hunksOf({ base, current, wanted, hunks }: Meeting, mine: string): readonly MergeHunk[] {
  if (hunks.length > 0 && wanted.trimEnd() === mine.trimEnd()) return hunks
  return [{ kind: 'conflict', base, current, wanted: mine }]
}

/** The text that results from the choices; without a choice, a hunk keeps your own text. */
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
