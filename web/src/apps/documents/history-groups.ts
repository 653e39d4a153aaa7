/** A document's history for display: the edits that one person made in a row are one entry. Pure. */
import type { DocumentVersion, DocumentVersionKind } from '@outlast/sdk'

export interface VersionGroup {
  newest: number
  oldest: number
  kind: DocumentVersionKind
  by: string | null
  byName: string | null
  at: string
  /** Newest first. */
  versions: DocumentVersion[]
}

const TOGETHER_MS = 10 * 60_000

/** `versions` newest first. Consecutive edits of one person, each within ten minutes of the next, form a group. */
export function groupsOf(versions: readonly DocumentVersion[]): VersionGroup[] {
  const groups: VersionGroup[] = []
  for (const version of versions) {
    const last = groups.at(-1)
    const newer = last?.versions.at(-1)
    if (last !== undefined && newer !== undefined && together(newer, version)) {
      last.versions.push(version)
      last.oldest = version.version
    } else groups.push(alone(version))
  }
  return groups
}

const together = (newer: DocumentVersion, older: DocumentVersion): boolean =>
  newer.kind === 'edit' &&
  older.kind === 'edit' &&
  newer.by === older.by &&
  Date.parse(newer.created_at) - Date.parse(older.created_at) <= TOGETHER_MS

const alone = (version: DocumentVersion): VersionGroup => ({
  newest: version.version,
  oldest: version.version,
  kind: version.kind,
  by: version.by,
  byName: version.by_name,
  at: version.created_at,
  versions: [version],
})

/** One line about an entry. */
export function summaryOf({ versions, kind }: VersionGroup): string {
  const [first] = versions
  if (versions.length === 1 && first !== undefined && first.summary !== '') return first.summary
  const blocks = new Set(versions.flatMap((version) => version.blocks)).size
  const sections = new Set(versions.flatMap((version) => version.sections)).size
  if (kind !== 'edit') return WORDS[kind]
  if (blocks > 0) return `Edited ${blocks === 1 ? 'a block' : `${blocks} blocks`}`
  return sections === 1 ? 'Changed a section' : sections > 1 ? `Changed ${sections} sections` : WORDS.edit
}

const WORDS: Record<DocumentVersionKind, string> = {
  created: 'Created',
  edit: 'Edited',
  agent: 'Accepted edits by the agent',
  import: 'Imported Markdown',
  restore: 'Restored an earlier version',
}
