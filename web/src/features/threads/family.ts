/** A thread with its ancestors and forks, as a tree. Pure. */
import type { FamilyThread } from '@outlast/sdk'

export interface Branch {
  thread: FamilyThread
  depth: number
  /** For each level above it, true if the line continues below. */
  lines: boolean[]
  /** True for the last thread on its line. */
  last: boolean
}

/** Parents before children, siblings by time; a thread whose parent is missing becomes a root. */
export function branchesOf(family: readonly FamilyThread[]): Branch[] {
  const known = new Set(family.map(({ id }) => id))
  const children = new Map<string, FamilyThread[]>()
  for (const thread of family.toSorted((one, other) => Date.parse(one.created_at) - Date.parse(other.created_at))) {
    const parent = thread.parent_thread_id !== null && known.has(thread.parent_thread_id) ? thread.parent_thread_id : ''
    children.set(parent, [...(children.get(parent) ?? []), thread])
  }
  const walk = (parent: string, depth: number, lines: boolean[]): Branch[] => {
    const here = children.get(parent) ?? []
    return here.flatMap((thread, at) => {
      const last = at === here.length - 1
      return [{ thread, depth, lines, last }, ...walk(thread.id, depth + 1, [...lines, !last])]
    })
  }
  return walk('', 0, [])
}
