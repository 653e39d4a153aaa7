import { ChevronDown, Filter } from 'lucide-react'
import type { ProposalData } from '@outlast/sdk'
import { useProposals } from '@outlast/sdk/react'
import { Menu, MenuItem } from '@/components/menu'
import { plural } from '@/lib/format'
import { useDocumentRoom } from './document-context'
import { useReview, useReviewed } from './use-review'

/** Selects the proposals to review if there are several. */
export function ReviewScopeMenu() {
  const { store } = useDocumentRoom()
  const review = useReview()
  const all = useProposals(store)
  const scope = useReviewed((one) => one.get().scope)
  const open = all.filter(({ state, id }) => state === 'open' || id === scope.proposalId)
  if (open.length < 2) return null
  const chosen = open.find(({ id }) => id === scope.proposalId)
  return (
    <Menu
      className="max-w-88"
      trigger={
        <button className="mb-2 flex h-7 max-w-full items-center gap-1.5 rounded-lg border border-line px-2 text-[12.5px] text-muted hover:bg-hover max-md:h-10">
          <Filter className="size-3.5 shrink-0" aria-hidden />
          <span className="truncate">{chosen === undefined ? `All ${open.length} proposals` : titleOf(chosen)}</span>
          <ChevronDown className="size-3.5 shrink-0" aria-hidden />
        </button>
      }
    >
      <MenuItem checked={scope.proposalId === undefined} onSelect={() => review.narrow({})}>
        All proposals
      </MenuItem>
      {open.map((proposal) => (
        <MenuItem
          key={proposal.id}
          checked={proposal.id === scope.proposalId}
          onSelect={() => review.narrow({ proposalId: proposal.id })}
        >
          <span className="min-w-0 flex-1 truncate">{titleOf(proposal)}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}

/** Proposals of a fork are marked: they are copies of proposals in the original conversation. */
const titleOf = ({ summary, edits, run_id }: ProposalData): string =>
  `${summary === '' ? plural(edits.length, 'edit') : summary}${run_id === null ? ' (in a fork)' : ''}`
