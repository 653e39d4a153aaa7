import type { Lock } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { useReached } from '@/lib/time'
import { useMe } from '@/features/session/session-gate'
import { lockState, type LockState } from '@/features/threads/lock-state'
import { useDocumentRoom } from './document-context'

/** Who keeps a section, and what that is to me. */
export function useSectionLock(sectionId: string): { lock: Lock | null; state: LockState } {
  const { store } = useDocumentRoom()
  const me = useMe()
  const lock = useSelected(store, ({ content }) => content.sections[sectionId]?.lock ?? null)
  const expired = useReached(lock?.expires_at ?? null)
  const state = lockState(lock, me.user.id, expired)
  // One's own section is kept until the time that it says, and no run renews it.
  return { lock, state: state === 'mine' && expired ? 'free' : state }
}
