/** Comments with their replies, in the order of the document. Pure. */
import type { CommentData } from '@outlast/sdk'

export type Shown = 'open' | 'resolved' | 'all'

/** A comment and its replies, oldest first. */
export interface CommentThread {
  root: CommentData
  answers: CommentData[]
}

/** The part that a comment is about; all null: the whole document. */
export interface Place {
  section_id: string | null
  block_id: string | null
}

/** The parts of a section that are needed for sorting. */
export interface Outline {
  id: string
  heading: string
  /** Ids. */
  blocks: readonly string[]
}

const byTime = (one: CommentData, other: CommentData) =>
  Date.parse(one.created_at) - Date.parse(other.created_at) || (one.id < other.id ? -1 : 1)

/** Threads that equal those in `before` stay the same objects. */
export function groupComments(
  comments: readonly CommentData[],
  before: readonly CommentThread[] = [],
): CommentThread[] {
  const answers = new Map<string, CommentData[]>()
  for (const comment of comments)
    if (comment.parent_id !== null) answers.set(comment.parent_id, [...(answers.get(comment.parent_id) ?? []), comment])
  const known = new Map(before.map((thread) => [thread.root.id, thread]))
  return comments
    .filter(({ parent_id }) => parent_id === null)
    .map((root) => {
      const thread = { root, answers: (answers.get(root.id) ?? []).toSorted(byTime) }
      const old = known.get(root.id)
      return old !== undefined && isSame(old, thread) ? old : thread
    })
}

const isSame = (one: CommentThread, other: CommentThread): boolean =>
  one.root === other.root &&
  one.answers.length === other.answers.length &&
  one.answers.every((answer, at) => answer === other.answers[at])

/** Sort keys of comments: those on the whole document first, then by section and block; comments on deleted parts come
 * last. */
export function orderOf(sections: readonly Outline[]): (place: Place & { orphaned?: boolean }) => number {
  const sectionAt = new Map<string, number>()
  const blockAt = new Map<string, number>()
  let next = 1
  for (const section of sections) {
    sectionAt.set(section.id, (next += 1))
    for (const block of section.blocks) blockAt.set(block, (next += 1))
  }
  return ({ section_id, block_id, orphaned = false }) => {
    const block = block_id === null ? undefined : blockAt.get(block_id)
    if (block !== undefined) return block
    const section = section_id === null ? undefined : sectionAt.get(section_id)
    if (section !== undefined) return section
    return orphaned ? next + 1 : 0
  }
}

/** The comments that match the filter, in reading order. */
export function filterComments(
  threads: readonly CommentThread[],
  shown: Shown,
  sections: readonly Outline[],
): CommentThread[] {
  const order = orderOf(sections)
  return threads
    .filter(({ root }) => shown === 'all' || root.status === shown)
    .toSorted((one, other) => order(one.root) - order(other.root) || byTime(one.root, other.root))
}

/** Open threads by their block or section; lists that equal those in `before` stay the same objects. */
export function openByPlace(
  threads: readonly CommentThread[],
  before: ReadonlyMap<string, readonly CommentThread[]> = new Map(),
): ReadonlyMap<string, readonly CommentThread[]> {
  const now = new Map<string, CommentThread[]>()
  for (const thread of threads) {
    const { status, orphaned, block_id, section_id } = thread.root
    const id = block_id ?? section_id
    if (status === 'open' && !orphaned && id !== null) now.set(id, [...(now.get(id) ?? []), thread])
  }
  return new Map([...now].map(([id, list]) => [id, isAs(before.get(id), list) ? (before.get(id) ?? list) : list]))
}

const isAs = (before: readonly CommentThread[] | undefined, now: readonly CommentThread[]): boolean =>
  before?.length === now.length && before.every(({ root }, at) => root === now[at]?.root)
