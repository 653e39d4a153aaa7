/** The edits to review in document order, and the places where they are drawn. Pure. */
import type { DocumentContent, EditData, ProposalData } from '@outlast/sdk'

/** Only the proposals of a thread, or one proposal; null: the whole document. */
export interface ReviewScope {
  threadId?: string
  proposalId?: string
}

export interface ReviewItem {
  edit: EditData
  proposal: ProposalData
}

export interface ReviewList {
  /** Open edits and those decided since, in document order. */
  items: readonly ReviewItem[]
  /** Edits that newer changes superseded. */
  superseded: readonly ReviewItem[]
  open: number
  /** Open edits by the place where they are drawn: see `placeOf`. */
  places: ReadonlyMap<string, readonly EditData[]>
  /** Open moves by their target. */
  arrivals: ReadonlyMap<string, readonly EditData[]>
}

export const NOTHING: ReviewList = { items: [], superseded: [], open: 0, places: new Map(), arrivals: new Map() }

/** The place where an edit is drawn: at its block, after the block or section that it follows, or at the beginning. */
export function placeOf(edit: EditData): string {
  if (edit.op === 'insert_section') return edit.after_id === null ? TOP : endOf(edit.after_id)
  if (edit.op === 'insert') return edit.after_id ?? startOf(edit.section_id ?? '')
  return edit.block_id ?? TOP
}
/** The target of a moved block. */
const targetOf = ({ after_id, section_id }: EditData): string => after_id ?? startOf(section_id ?? '')
export const TOP = 'top'
export const startOf = (sectionId: string): string => `start ${sectionId}`
export const endOf = (sectionId: string): string => `end ${sectionId}`

const inScope = (proposal: ProposalData, scope: ReviewScope): boolean =>
  (scope.threadId === undefined || proposal.thread_id === scope.threadId) &&
  (scope.proposalId === undefined || proposal.id === scope.proposalId)

/** `seen`: proposals that had open edits while this page was open; their decided edits are listed too. */
export function reviewList(
  proposals: readonly ProposalData[],
  content: Pick<DocumentContent, 'order' | 'sections'>,
  seen: ReadonlySet<string>,
  scope: ReviewScope,
  before: ReviewList = NOTHING,
): ReviewList {
  const shown = proposals.filter((one) => inScope(one, scope) && (one.state === 'open' || seen.has(one.id)))
  const every = shown.flatMap((proposal) => proposal.edits.map((edit): ReviewItem => ({ edit, proposal })))
  const all = scope.threadId === undefined && scope.proposalId === undefined ? withoutDoubles(every) : every
  const rank = ranks(content)
  // Edits of a deleted block stay in its section.
  const rankOf = (edit: EditData): number =>
    rank.get(placeOf(edit)) ?? rank.get(endOf(edit.section_id ?? '')) ?? Number.MAX_SAFE_INTEGER
  const ranked = all.map((item, at) => ({ item, rank: rankOf(item.edit), at }))
  // Edits of a block come before blocks that are added after it.
  ranked.sort((one, other) => one.rank - other.rank || behind(one.item) - behind(other.item) || one.at - other.at)
  const items = ranked.map(({ item }) => item)
  const open = items.filter(({ edit }) => edit.state === 'open')
  return {
    items: items.filter(({ edit }) => edit.state !== 'superseded'),
    superseded: items.filter(({ edit }) => edit.state === 'superseded'),
    open: open.length,
    places: groupByPlace(open, placeOf, before.places),
    arrivals: groupByPlace(
      open.filter(({ edit }) => edit.op === 'move'),
      targetOf,
      before.arrivals,
    ),
  }
}

/** Merges an edit with its copies in forks while they are open and equal. */
function withoutDoubles(items: readonly ReviewItem[]): readonly ReviewItem[] {
  const first = new Map<string, EditData>()
  for (const { edit } of items) {
    const known = first.get(sayingOf(edit))
    if (edit.state === 'open' && (known === undefined || isBefore(edit, known))) first.set(sayingOf(edit), edit)
  }
  return items.filter(({ edit }) => edit.state !== 'open' || first.get(sayingOf(edit)) === edit)
}

const isBefore = (edit: EditData, other: EditData): boolean =>
  edit.origin_id === null || (other.origin_id !== null && edit.id < other.id)
const originOf = (edit: EditData): string => edit.origin_id ?? edit.id
const sayingOf = (edit: EditData): string => JSON.stringify([originOf(edit), edit.op, edit.new_text])

const behind = ({ edit }: ReviewItem): number => (edit.op === 'insert' ? 1 : 0)

function ranks({ order, sections }: Pick<DocumentContent, 'order' | 'sections'>): Map<string, number> {
  const places = order.flatMap((id) => [startOf(id), ...(sections[id]?.blocks ?? []), endOf(id)])
  return new Map([TOP, ...places].map((place, at) => [place, at]))
}

/** Lists that hold the same edits stay the same objects, so that only blocks with changed edits render. */
function groupByPlace(
  open: readonly ReviewItem[],
  where: (edit: EditData) => string,
  before: ReviewList['places'],
): ReadonlyMap<string, readonly EditData[]> {
  const places = new Map<string, EditData[]>()
  for (const { edit } of open) {
    const place = where(edit)
    const known = places.get(place)
    if (known === undefined) places.set(place, [edit])
    else known.push(edit)
  }
  return new Map([...places].map(([place, edits]) => [place, kept(edits, before.get(place))]))
}

const kept = (edits: readonly EditData[], before: readonly EditData[] | undefined): readonly EditData[] =>
  before?.length === edits.length && edits.every((edit, at) => edit === before[at]) ? before : edits

/** The next open edit (1) or the previous one (-1), wrapping around; null if there is none. */
export function nextOpen(list: ReviewList, from: string | null, by: 1 | -1): string | null {
  const { items } = list
  const at = items.findIndex(({ edit }) => edit.id === from)
  for (let step = 1; step <= items.length; step++) {
    const start = at === -1 && by === -1 ? 0 : at
    const item = items[(start + by * step + items.length * 2) % items.length]
    if (item?.edit.state === 'open') return item.edit.id
  }
  return null
}

/** Its number in the list, from 1; 0 if it is not in the list. */
export const numberOf = (list: ReviewList, editId: string | null): number =>
  list.items.findIndex(({ edit }) => edit.id === editId) + 1

const DOES: Record<EditData['op'], string> = {
  replace: 'Change',
  insert: 'New paragraph',
  delete: 'Remove',
  move: 'Move',
  insert_section: 'New section',
}
export const nameOf = ({ op }: EditData): string => DOES[op]

/** A one-line summary of an edit, for lists. */
export function gistOf(edit: EditData): string {
  const text =
    edit.op === 'insert_section'
      ? (edit.heading ?? '')
      : edit.op === 'delete' || edit.op === 'move'
        ? edit.old_text
        : edit.new_text
  const line = text.split('\n').find((one) => one.trim() !== '') ?? ''
  return line
    .replace(/^[#>\-+*\s|]+(?=\s)/, '')
    .replace(/\*\*|__|`/g, '')
    .trim()
    .slice(0, 140)
}

/** "12" of `version:12`; null if another edit superseded it. */
export const supersedingVersion = ({ superseded_by }: EditData): number | null => {
  const version = /^version:(\d+)$/.exec(superseded_by ?? '')?.[1]
  return version === undefined ? null : Number(version)
}
