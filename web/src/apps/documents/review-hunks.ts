/** Resolving a conflict hunk by hunk. Pure. */
import type { MergeHunk } from '@outlast/sdk'

export type Choice = 'current' | 'wanted' | 'both'

/** The hunks that need a person's decision. */
export const conflictsIn = (hunks: readonly MergeHunk[]): number[] =>
  hunks.flatMap(({ kind }, at) => (kind === 'conflict' ? [at] : []))

/** The text of a hunk in the result, by choice; both: the current text, then the proposed one. */
function hunkText({ kind, current, wanted }: MergeHunk, choice: Choice): string {
  if (kind === 'wanted') return wanted
  if (kind !== 'conflict') return current
  if (choice === 'both')
    return current + (current === '' || /\s$/.test(current) || /^\s/.test(wanted) ? '' : ' ') + wanted
  return choice === 'current' ? current : wanted
}

/** The merged text; without a choice, a hunk keeps the current text. */
export const chosenText = (hunks: readonly MergeHunk[], choices: Readonly<Record<number, Choice>>): string =>
  hunks.map((hunk, at) => hunkText(hunk, choices[at] ?? 'current')).join('')
