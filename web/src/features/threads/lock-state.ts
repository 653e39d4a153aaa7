/** The lock state of a thread for one user, as in the table of lock states. Pure. */
import type { Lock } from '@outlast/sdk'

export type LockState = 'free' | 'mine' | 'theirs' | 'expired'

/** Your own lock is renewed by the next run, so it is never shown as expired. */
export function lockState(lock: Lock | null, me: string, expired: boolean): LockState {
  if (lock === null) return 'free'
  if (lock.holder_id === me) return 'mine'
  return expired ? 'expired' : 'theirs'
}
