import { LockKeyhole } from 'lucide-react'
import { Menu, MenuItem } from '@/components/menu'
import { complain, say } from '@/components/toast'
import { clockTime } from '@/lib/format'
import { client } from '@/lib/queries'
import { useReached } from '@/lib/time'
import { useMe } from '../session/session-gate'
import { lockState } from './lock-state'
import { useOpenThread } from './thread-context'

const CHIP = 'flex h-7 items-center gap-1.5 rounded-full px-2 text-xs text-muted'

/** The driver of the thread; you can release your own lock here. */
export function LockChip() {
  const { open, thread } = useOpenThread()
  const me = useMe()
  const { lock } = open
  const state = lockState(lock, me.user.id, useReached(lock?.expires_at ?? null))
  if (lock === null || state === 'free' || state === 'expired') return null
  if (state === 'theirs')
    return (
      <span className={`${CHIP} bg-side`} title={`Locked until ${clockTime(lock.expires_at)}`}>
        <LockKeyhole className="size-3.5" />
        <span className="hidden max-w-32 truncate sm:inline">{lock.holder_name}</span>
      </span>
    )
  const release = () => {
    client.releaseLock(thread.id).then(() => say('Lock released. Any editor of the project can drive now.'), complain)
  }
  return (
    <Menu
      align="end"
      trigger={
        <button className={`${CHIP} hover:bg-hover hover:text-fg`} aria-label="Locked by you" data-lock="mine">
          <LockKeyhole className="size-3.5" />
          <span className="hidden sm:inline">You</span>
        </button>
      }
    >
      <p className="max-w-60 px-2 pt-1.5 pb-2 text-xs text-muted">
        You are driving this thread until {clockTime(lock.expires_at)}. Each run renews the lock. Others can read, fork,
        or request a hand-over.
      </p>
      <MenuItem onSelect={release}>Release the lock</MenuItem>
    </Menu>
  )
}
