/** Updates lists of proposals and comments. Plain functions; updates may arrive twice, and in any order. */
import type { CommentData, EditData, ProposalData } from './api.gen.ts'

/** A decided edit stays decided until it is reopened; older updates do not change it. */
const newer = (known: EditData | undefined, update: EditData): EditData =>
  known !== undefined && ageOf(update) < ageOf(known) ? known : update

const ageOf = ({ reopened = 0, state }: Partial<EditData>): number => 2 * reopened + (state === 'open' ? 0 : 1)

/** The proposals with this one updated, oldest first. */
export function withProposal(all: readonly ProposalData[], update: ProposalData): ProposalData[] {
  const at = all.findIndex(({ id }) => id === update.id)
  const known = all[at]
  const edits = update.edits.map((edit) =>
    newer(
      known?.edits.find(({ id }) => id === edit.id),
      edit,
    ),
  )
  const proposal = stated({ ...update, message_id: update.message_id ?? known?.message_id ?? null, edits })
  if (at !== -1) return all.with(at, proposal)
  const later = all.findIndex(
    ({ created_at, id }) => created_at > update.created_at || (created_at === update.created_at && id > update.id),
  )
  return all.toSpliced(later === -1 ? all.length : later, 0, proposal)
}

/** The proposals after some edits were decided or superseded. Edits of unknown proposals are ignored. */
export function withEdits(all: readonly ProposalData[], edits: readonly EditData[]): ProposalData[] {
  const updates = new Map(edits.map((edit) => [edit.id, edit]))
  return all.map((proposal) => {
    if (!proposal.edits.some(({ id }) => updates.has(id))) return proposal
    return stated({ ...proposal, edits: proposal.edits.map((edit) => newer(edit, updates.get(edit.id) ?? edit)) })
  })
}

const stated = (proposal: ProposalData): ProposalData => ({
  ...proposal,
  state: proposal.edits.some(({ state }) => state === 'open') ? 'open' : 'closed',
})

export interface EditCounts {
  open: number
  accepted: number
  rejected: number
  superseded: number
}
export function countEdits(edits: readonly EditData[]): EditCounts {
  const counts = { open: 0, accepted: 0, rejected: 0, superseded: 0 }
  for (const { state } of edits) counts[state] += 1
  return counts
}

/** Comments in the order of creation, with this one updated. */
export function withComment(all: readonly CommentData[], update: CommentData): CommentData[] {
  const at = all.findIndex(({ id }) => id === update.id)
  if (at !== -1) return all[at]!.updated_at > update.updated_at ? [...all] : all.with(at, update)
  const later = all.findIndex(
    ({ created_at, id }) => created_at > update.created_at || (created_at === update.created_at && id > update.id),
  )
  return all.toSpliced(later === -1 ? all.length : later, 0, update)
}

/** The comments without one comment and its replies. */
export const withoutComment = (all: readonly CommentData[], commentId: string): CommentData[] =>
  all.filter(({ id, parent_id }) => id !== commentId && parent_id !== commentId)
