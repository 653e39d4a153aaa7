/** What is to be reviewed, in the order of the document, and where each proposed change is drawn. Pure. */
import type { DocumentContent, EditData, ProposalData } from '@outlast/sdk'

/** Only the proposals of a thread, or one proposal; null: all of the document. */
export interface ReviewScope {
  threadId?: string
  proposalId?: string
}

export interface ReviewItem {
  edit: EditData
  proposal: ProposalData
}

export interface ReviewList {
  /** Those that wait and those decided since, in the order of the document. */
  items: readonly ReviewItem[]
  /** What newer news made void. */
  superseded: readonly ReviewItem[]
  open: number
  /** Open edits by where they are drawn: see `placeOf`. */
  places: ReadonlyMap<string, readonly EditData[]>
  /** Open moves by where they lead. */
  arrivals: ReadonlyMap<string, readonly EditData[]>
}

export const NOTHING: ReviewList = { items: [], superseded: [], open: 0, places: new Map(), arrivals: new Map() }

/** Where an edit is drawn: at its block, behind the block or section that it comes after, or at the beginning. */
export function placeOf(edit: EditData): string {
  if (edit.op === 'insert_section') return edit.after_id === null ? TOP : endOf(edit.after_id)
  if (edit.op === 'insert') return edit.after_id ?? startOf(edit.section_id ?? '')
  return edit.block_id ?? TOP
}
/** Where a moved block would be. */
const targetOf = ({ after_id, section_id }: EditData): string => after_id ?? startOf(section_id ?? '')
export const TOP = 'top'
export const startOf = (sectionId: string): string => `start ${sectionId}`
export const endOf = (sectionId: string): string => `end ${sectionId}`

const inScope = (proposal: ProposalData, scope: ReviewScope): boolean =>
  (scope.threadId === undefined || proposal.thread_id === scope.threadId) &&
  (scope.proposalId === undefined || proposal.id === scope.proposalId)

/** `seen`: proposals that had something open while this page was open; of them the decided edits count too. */
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
  // What became of a block that is gone stays in its section.
  const rankOf = (edit: EditData): number =>
    rank.get(placeOf(edit)) ?? rank.get(endOf(edit.section_id ?? '')) ?? Number.MAX_SAFE_INTEGER
  const ranked = all.map((item, at) => ({ item, rank: rankOf(item.edit), at }))
  // What becomes of a block comes before what is put behind it.
  ranked.sort((one, other) => one.rank - other.rank || behind(one.item) - behind(other.item) || one.at - other.at)
  const items = ranked.map(({ item }) => item)
  const open = items.filter(({ edit }) => edit.state === 'open')
  return {
    items: items.filter(({ edit }) => edit.state !== 'superseded'),
    superseded: items.filter(({ edit }) => edit.state === 'superseded'),
    open: open.length,
    places: placed(open, placeOf, before.places),
    arrivals: placed(
      open.filter(({ edit }) => edit.op === 'move'),
      targetOf,
      before.arrivals,
    ),
  }
}

/** Of an edit and its copies in forks, as long as they are open and say the same, one. */
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

/** Lists that hold the same edits stay the same objects, so that only the blocks whose edits changed are drawn anew. */
function placed(
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

/** The open edit after (1) or before (-1) one, around the ends; null: there is none. */
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

/** Its place in the list, from 1; 0: it is not there. */
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

/** A first line of what an edit is about, for lists. */
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

/** "12" of `version:12`; null where another edit took its place. */
export const supersedingVersion = ({ superseded_by }: EditData): number | null => {
  const version = /^version:(\d+)$/.exec(superseded_by ?? '')?.[1]
  return version === undefined ? null : Number(version)
}
