/** Views of the knowledge app inside threads. */
import type { ThreadViews } from '@/lib/apps'

// Modules affect other threads too: the server refuses to remember this approval.
export default { decidedEachTime: ['publish_module'] } satisfies ThreadViews
