import { useReached } from '@/lib/time'
import { useMe } from '../session/session-gate'
import { lockState } from './lock-state'
import { useOpenThread, useThreadFacts } from './thread-context'

/** True if this user may start a run here now: they can write, and no other member holds the lock. */
export function useMayDrive(): boolean {
  const { mayWrite } = useThreadFacts()
  const { open } = useOpenThread()
  const me = useMe()
  const state = lockState(open.lock, me.user.id, useReached(open.lock?.expires_at ?? null))
  return mayWrite && (state === 'free' || state === 'mine')
}
