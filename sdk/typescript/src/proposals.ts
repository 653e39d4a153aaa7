/** Lists of proposals and comments after news of them. Plain functions; news may come twice, and in either order. */
import type { CommentData, EditData, ProposalData } from './api.gen.ts'

/** An edit that was decided stays so until it is reopened, whatever older news says. */
const newer = (known: EditData | undefined, told: EditData): EditData =>
  known !== undefined && ageOf(told) < ageOf(known) ? known : told

const ageOf = ({ reopened = 0, state }: Partial<EditData>): number => 2 * reopened + (state === 'open' ? 0 : 1)

/** The proposals with this one as it is now, oldest first. */
export function withProposal(all: readonly ProposalData[], told: ProposalData): ProposalData[] {
  const at = all.findIndex(({ id }) => id === told.id)
  const known = all[at]
  const edits = told.edits.map((edit) =>
    newer(
      known?.edits.find(({ id }) => id === edit.id),
      edit,
    ),
  )
  const proposal = stated({ ...told, message_id: told.message_id ?? known?.message_id ?? null, edits })
  if (at !== -1) return all.with(at, proposal)
  const later = all.findIndex(
    ({ created_at, id }) => created_at > told.created_at || (created_at === told.created_at && id > told.id),
  )
  return all.toSpliced(later === -1 ? all.length : later, 0, proposal)
}

/** The proposals after edits of them were decided, or superseded. Those of unknown proposals are passed over. */
export function withEdits(all: readonly ProposalData[], edits: readonly EditData[]): ProposalData[] {
  const told = new Map(edits.map((edit) => [edit.id, edit]))
  return all.map((proposal) => {
    if (!proposal.edits.some(({ id }) => told.has(id))) return proposal
    return stated({ ...proposal, edits: proposal.edits.map((edit) => newer(edit, told.get(edit.id) ?? edit)) })
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

/** Comments in the order in which they were made, with this one as it is now. */
export function withComment(all: readonly CommentData[], told: CommentData): CommentData[] {
  const at = all.findIndex(({ id }) => id === told.id)
  if (at !== -1) return all[at]!.updated_at > told.updated_at ? [...all] : all.with(at, told)
  const later = all.findIndex(
    ({ created_at, id }) => created_at > told.created_at || (created_at === told.created_at && id > told.id),
  )
  return all.toSpliced(later === -1 ? all.length : later, 0, told)
}

/** Without a comment and the answers to it. */
export const withoutComment = (all: readonly CommentData[], commentId: string): CommentData[] =>
  all.filter(({ id, parent_id }) => id !== commentId && parent_id !== commentId)
