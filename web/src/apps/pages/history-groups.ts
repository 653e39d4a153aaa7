/** A page's history for display: the changes of one run are one entry. Pure. */
import type { Message, PageVersion, VersionKind } from '@outlast/sdk'
import { plural } from '@/lib/format'
import { readActions } from './action-message'
import { actionText } from './action-text'

export interface VersionGroup {
  newest: number
  oldest: number
  kind: VersionKind
  runId: string | null
  /** Newest first. */
  versions: readonly PageVersion[]
}

/** `versions`: newest first. */
export function groupsOf(versions: readonly PageVersion[]): VersionGroup[] {
  const groups: { versions: PageVersion[] }[] = []
  for (const version of versions) {
    const last = groups.at(-1)
    const before = last?.versions[0]
    if (last !== undefined && version.run_id !== null && before?.run_id === version.run_id) last.versions.push(version)
    else groups.push({ versions: [version] })
  }
  return groups.flatMap(({ versions: all }) => {
    const [newest, oldest] = [all[0], all.at(-1)]
    if (newest === undefined || oldest === undefined) return []
    const kind = all.some((one) => one.kind === 'full') ? 'full' : newest.kind
    return [{ newest: newest.version, oldest: oldest.version, kind, runId: newest.run_id, versions: all }]
  })
}

const KINDS: Record<VersionKind, string> = {
  created: 'Created',
  full: 'Rewritten',
  patches: 'Changed',
  undo: 'Undone',
  restore: 'Restored',
  copy: 'Copied',
}

/** The change of an entry, in one line. */
export function summaryOf({ versions, kind }: VersionGroup): string {
  const [only] = versions
  if (versions.length === 1 && only !== undefined && only.summary !== '') return only.summary
  const patches = versions.reduce((sum, one) => sum + one.patches, 0)
  return patches === 0 ? KINDS[kind] : `${KINDS[kind]}: ${plural(patches, 'patch', 'patches')}`
}

/** Requests by the run that answered them: the person's words, or their actions on the page. */
export function asksOf(messages: readonly Message[]): ReadonlyMap<string, string> {
  const asks = new Map<string, string>()
  let request = ''
  for (const { role, run_id, parts } of messages) {
    if (role === 'user') request = parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
    else if (role === 'assistant' && run_id !== null && request !== '') {
      asks.set(run_id, readActions(request)?.map(actionText).join('; ') ?? request)
    }
  }
  return asks
}
