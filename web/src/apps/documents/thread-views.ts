/** Views of documents inside threads. */
import type { ThreadViews } from '@/lib/apps'
import { ProposalCard } from './review-card'

export default { parts: { proposal: ProposalCard } } satisfies ThreadViews
