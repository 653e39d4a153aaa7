/** The changes of a run, in the format that the diff view takes. */
import type { FileChange, FileDifference } from '@outlast/sdk'

const CONTEXT_LINES = 3

/** The diff library loads with the first comparison. */
export async function differencesOf(changes: readonly FileChange[]): Promise<FileDifference[]> {
  const { createTwoFilesPatch } = await import('diff')
  return changes.map(({ path, status, before, after, before_bytes, after_bytes }) => ({
    path,
    change: status,
    before_bytes,
    after_bytes,
    diff: comparable({ status, before, after })
      ? createTwoFilesPatch(path, path, before ?? '', after ?? '', '', '', { context: CONTEXT_LINES })
      : null,
  }))
}

/** True if all texts needed for a comparison are present. Pure. */
export function comparable({ status, before, after }: Pick<FileChange, 'status' | 'before' | 'after'>): boolean {
  return (before !== null || status === 'added') && (after !== null || status === 'removed')
}
