/** Who may drive a thread, as the table of lock states says. Pure. */
import type { Lock } from '@outlast/sdk'

export type LockState = 'free' | 'mine' | 'theirs' | 'expired'

/** One's own lock is refreshed by the next run, so it never reads as expired. */
export function lockState(lock: Lock | null, me: string, expired: boolean): LockState {
  if (lock === null) return 'free'
  if (lock.holder_id === me) return 'mine'
  return expired ? 'expired' : 'theirs'
}
