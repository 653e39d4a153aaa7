import type { Pending } from '@outlast/sdk'
import { ApprovalCard } from './approval-card'
import { QuestionCard } from './question-card'

/** An approval or question that waits for a person. */
export const PendingCard = ({ pending }: { pending: Pending }) =>
  pending.kind === 'approval' ? <ApprovalCard approval={pending} /> : <QuestionCard question={pending} />
