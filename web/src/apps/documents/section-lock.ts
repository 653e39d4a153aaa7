import type { Lock } from '@outlast/sdk'
import { useSelected } from '@outlast/sdk/react'
import { useReached } from '@/lib/time'
import { useMe } from '@/features/session/session-gate'
import { lockState, type LockState } from '@/features/threads/lock-state'
import { useDocumentRoom } from './document-context'

/** The lock of a section and its state for this user. */
export function useSectionLock(sectionId: string): { lock: Lock | null; state: LockState } {
  const { store } = useDocumentRoom()
  const me = useMe()
  const lock = useSelected(store, ({ content }) => content.sections[sectionId]?.lock ?? null)
  const expired = useReached(lock?.expires_at ?? null)
  const state = lockState(lock, me.user.id, expired)
  // Your own section lock ends at its expiry, because no run renews it.
  return { lock, state: state === 'mine' && expired ? 'free' : state }
}
