import { useQuery } from '@tanstack/react-query'
import { Check, CircleDashed, GitPullRequestArrow, X, type LucideIcon } from 'lucide-react'
import { useCallback, useContext } from 'react'
import { useLocation } from 'wouter'
import {
  countEdits,
  withEdits,
  type EditData,
  type OutlastEvent,
  type ProposalData,
  type ProposalPart,
} from '@outlast/sdk'
import { useEvents } from '@outlast/sdk/react'
import { Button } from '@/components/button'
import { cn } from '@/lib/cn'
import { plural } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { useFreshOnceLive } from '@/features/shell/active-project'
import { DocumentContext } from './document-context'
import { gistOf, nameOf } from './review-list'

const SHOWN = 5

/** In a conversation: the agent's proposal, its state, and a link to the review. */
export function ProposalCard({ part }: { part: ProposalPart }) {
  const { data: proposal, error } = useProposalOf(part.proposal_id)
  const review = useOpenReview(part)
  const counts = countEdits(proposal?.edits ?? [])
  const waits = proposal === undefined || counts.open > 0
  return (
    <section
      aria-label="Proposed edits"
      data-proposal={part.proposal_id}
      className="overflow-hidden rounded-xl border border-line bg-raised text-[13px]"
    >
      <header className="flex items-center gap-2.5 px-3 py-2.5">
        <GitPullRequestArrow className="size-4 shrink-0 text-link" aria-hidden />
        <div className="min-w-0 flex-1">
          <p className="font-medium [overflow-wrap:anywhere]">
            {part.summary === '' ? plural(part.edits, 'proposed edit') : part.summary}
          </p>
          <p className="text-xs text-faint" data-proposal-counts>
            {error !== null
              ? 'It was deleted.'
              : proposal === undefined
                ? plural(part.edits, 'edit')
                : countsOf(counts)}
          </p>
        </div>
        {error === null && (
          <Button size="sm" look={waits ? 'primary' : 'plain'} className="max-md:h-10" onClick={review}>
            {waits ? 'Review' : 'Show'}
          </Button>
        )}
      </header>
      {proposal !== undefined && (
        <ol className="border-t border-line">
          {proposal.edits.slice(0, SHOWN).map((edit) => (
            <EditLine key={edit.id} edit={edit} />
          ))}
          {proposal.edits.length > SHOWN && (
            <li className="px-3 py-1.5 text-xs text-faint">and {proposal.edits.length - SHOWN} more</li>
          )}
        </ol>
      )}
    </section>
  )
}

const LOOKS: Record<EditData['state'], [icon: LucideIcon, look: string, word: string]> = {
  open: [CircleDashed, 'text-link', 'Open'],
  accepted: [Check, 'text-ok', 'Accepted'],
  rejected: [X, 'text-danger', 'Rejected'],
  superseded: [X, 'text-faint', 'Superseded'],
}

function EditLine({ edit }: { edit: EditData }) {
  const [Icon, look, word] = LOOKS[edit.state]
  return (
    <li className="flex items-center gap-2 px-3 py-1" title={edit.reason}>
      <Icon className={cn('size-3.5 shrink-0', look)} role="img" aria-label={word} />
      <span className="shrink-0 text-xs text-faint">{nameOf(edit)}</span>
      <span className={cn('truncate', edit.state !== 'open' && 'text-muted')}>{gistOf(edit)}</span>
    </li>
  )
}

/** "2 open, 1 accepted". Pure. */
export function countsOf({ open, accepted, rejected, superseded }: ReturnType<typeof countEdits>): string {
  const counts: [number, string][] = [
    [open, 'open'],
    [accepted, 'accepted'],
    [rejected, 'rejected'],
    [superseded, 'overtaken'],
  ]
  return counts.flatMap(([n, word]) => (n > 0 ? [`${n} ${word}`] : [])).join(', ')
}

/** Updated by any open stream. */
function useProposalOf(proposalId: string) {
  const key = ['proposal', proposalId]
  useFreshOnceLive(key)
  useEvents(
    useCallback(
      ({ event, data }: OutlastEvent) => {
        if (event !== 'edit.resolved' && event !== 'edit.reopened' && event !== 'edit.superseded') return
        if (data.proposal_id !== proposalId) return
        queryClient.setQueryData<ProposalData>(['proposal', proposalId], (known) =>
          known === undefined ? known : withEdits([known], data.edits)[0],
        )
      },
      [proposalId],
    ),
  )
  return useQuery({ queryKey: key, queryFn: ({ signal }) => client.documents.proposal(proposalId, signal) })
}

/** Opens the review next to the document; elsewhere, opens the document first. */
function useOpenReview({ document_id, proposal_id }: ProposalPart): () => void {
  const room = useContext(DocumentContext)
  const [, navigate] = useLocation()
  return () => {
    if (room?.documentId === document_id) room.openPanel('review', proposal_id)
    else navigate(`/documents/${document_id}?panel=review&item=${proposal_id}`)
  }
}
