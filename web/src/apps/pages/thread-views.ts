/** Views of pages inside threads. */
import type { ThreadViews } from '@/lib/apps'
import { readActions } from './action-message'
import { ActionMessage } from './action-message-view'
import { actionText } from './action-text'
import { PageChange } from './page-change'

export default {
  parts: { page: PageChange },
  messages: {
    matches: (text) => readActions(text) !== null,
    View: ActionMessage,
    summary: (text) => (readActions(text) ?? []).map(actionText).join(', '),
  },
} satisfies ThreadViews
