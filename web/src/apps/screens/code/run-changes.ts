/** What a run changed, in the form in which differences are shown. */
import type { FileChange, FileDifference } from '@outlast/sdk'

const CONTEXT_LINES = 3

/** The library that compares is loaded with the first comparison. */
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

/** Both texts are there that should be. Pure. */
export function comparable({ status, before, after }: Pick<FileChange, 'status' | 'before' | 'after'>): boolean {
  return (before !== null || status === 'added') && (after !== null || status === 'removed')
}
