import { useCallback } from 'react'
import { keyOf, type EditRefusal, type PendingElement } from '@outlast/sdk'
import { useTab } from '../canvas/screen-sidebar'
import { putDraft } from '../chat/draft-store'
import { useEditing } from './edit-context'
import { askPrompt, wishesOf } from './prompts'

/** Hands over to the chat a change that cannot be made by hand, and discards its preview. */
export function useAskAgent(): (ask: Ask) => void {
  const { screen, edit } = useEditing()
  const [, setTab] = useTab()
  const { session } = edit
  return useCallback(
    (ask) => {
      if ('text' in ask) putDraft(screen.id, ask.text)
      else {
        const { tag, mark, refusal, pending } = ask
        putDraft(screen.id, askPrompt(tag, mark, refusal, pending === null ? [] : wishesOf(pending)))
        if (pending !== null) session.discard(keyOf(pending))
      }
      setTab('chat')
    },
    [screen.id, session, setTab],
  )
}

type Ask = { text: string } | { tag: string; mark: string; refusal: EditRefusal; pending: PendingElement | null }
