/** Views of documents inside threads. */
import type { ThreadViews } from '@/lib/apps'
import { ProposalCard } from './proposal-card'

export default { parts: { proposal: ProposalCard } } satisfies ThreadViews
