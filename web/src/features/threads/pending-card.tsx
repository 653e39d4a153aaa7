import type { Pending } from '@outlast/sdk'
import { AccountCard } from './account-card'
import { ApprovalCard } from './approval-card'
import { QuestionCard } from './question-card'

/** An approval or question that waits for a person. */
export function PendingCard({ pending }: { pending: Pending }) {
  if (pending.kind === 'approval') return <ApprovalCard approval={pending} />
  if (pending.account != null) return <AccountCard question={pending} account={pending.account} />
  return <QuestionCard question={pending} />
}
