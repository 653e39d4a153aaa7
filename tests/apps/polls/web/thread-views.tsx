/** What polls show inside threads. */
import type { ThreadViews } from '@/lib/apps'

export default {
  agents: {
    poll: { Answer: ({ parts }) => <p>{parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}</p> },
  },
  decidedEachTime: ['offer_options'],
} satisfies ThreadViews
