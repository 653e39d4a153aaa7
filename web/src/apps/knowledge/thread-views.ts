/** What the knowledge app shows inside threads. */
import type { ThreadViews } from '@/lib/apps'

// Modules reach beyond the thread: the server refuses to remember this approval.
export default { decidedEachTime: ['publish_module'] } satisfies ThreadViews
