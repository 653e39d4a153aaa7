import { ChevronDown, GitFork, Hand, LockKeyhole, LockKeyholeOpen, ScrollText } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Lock } from '@outlast/sdk'
import { Button } from '@/components/button'
import { Menu, MenuItem } from '@/components/menu'
import { complain, say } from '@/components/toast'
import { clockTime } from '@/lib/format'
import { client } from '@/lib/queries'
import { useMe } from '../session/session-gate'
import { useFork } from './fork-button'
import { useOpenThread } from './thread-context'

function Banner({
  icon,
  title,
  children,
  actions,
}: {
  icon: ReactNode
  title: string
  children: ReactNode
  actions: ReactNode
}) {
  return (
    <section
      aria-label={title}
      data-lock-banner
      className="flex flex-wrap items-center gap-x-4 gap-y-3 rounded-2xl border border-line bg-side px-4 py-3"
    >
      <div className="flex min-w-56 flex-1 gap-3 [&_svg]:mt-0.5 [&_svg]:size-4.5 [&_svg]:shrink-0 [&_svg]:text-muted">
        {icon}
        <div>
          <h2 className="font-medium">{title}</h2>
          <p className="text-muted">{children}</p>
        </div>
      </div>
      <div className="flex flex-wrap gap-2">{actions}</div>
    </section>
  )
}

/** Runs a button's action and shows its error. */
function useAction(): [run: (action: () => Promise<unknown>, done?: string) => void, busy: boolean] {
  const [busy, setBusy] = useState(false)
  const run = (action: () => Promise<unknown>, done?: string) => {
    setBusy(true)
    action()
      .then(() => done !== undefined && say(done), complain)
      .finally(() => setBusy(false))
  }
  return [run, busy]
}

function ForkAction() {
  const [fork, busy] = useFork()
  return (
    <span className="flex">
      <Button busy={busy} className="rounded-r-none pr-3" onClick={() => fork()}>
        {!busy && <GitFork />}
        Fork thread
      </Button>
      <Menu
        align="end"
        side="top"
        trigger={
          <Button aria-label="More ways to fork" disabled={busy} className="-ml-px rounded-l-none px-1.5">
            <ChevronDown />
          </Button>
        }
      >
        <MenuItem onSelect={() => fork({ summary: true })}>
          <ScrollText />
          Fork with a summary
        </MenuItem>
      </Menu>
    </span>
  )
}

/** Another member drives: follow live, fork the thread, or request it. */
export function LockedByOther({ lock }: { lock: Lock }) {
  const { thread } = useOpenThread()
  const me = useMe()
  const [run, busy] = useAction()
  const requested = lock.requested_by === me.user.id
  return (
    <Banner
      icon={<LockKeyhole />}
      title={`Locked by ${lock.holder_name}`}
      actions={
        <>
          <Button
            disabled={requested}
            busy={busy}
            onClick={() => run(() => client.requestLock(thread.id), `Hand-over request sent to ${lock.holder_name}.`)}
          >
            {!busy && <Hand />}
            {requested ? 'Hand-over requested' : 'Request hand-over'}
          </Button>
          <ForkAction />
        </>
      }
    >
      You can follow live. The lock expires at {clockTime(lock.expires_at)} unless it is renewed.
    </Banner>
  )
}

/** The driver's lock has expired: any editor may take over. */
export function LockExpired({ lock }: { lock: Lock }) {
  const { thread } = useOpenThread()
  const [run, busy] = useAction()
  return (
    <Banner
      icon={<LockKeyholeOpen />}
      title={`The lock of ${lock.holder_name} has expired`}
      actions={
        <>
          <ForkAction />
          <Button
            look="primary"
            busy={busy}
            onClick={() => run(() => client.takeLock(thread.id, true), 'You are driving now.')}
          >
            Take over
          </Button>
        </>
      }
    >
      Take over to write here, or fork the thread.
    </Banner>
  )
}

/** Another member requests the lock that this user holds. */
export function HandOverRequest({ lock }: { lock: Lock }) {
  const { open, thread } = useOpenThread()
  const [run, busy] = useAction()
  const [later, setLater] = useState<string | null>(null)
  const live = open.activeRun?.status === 'running' || open.activeRun?.status === 'queued'
  const who = lock.requested_by
  if (who === null || later === who) return null
  return (
    <div className="mb-2">
      <Banner
        icon={<Hand />}
        title={`${lock.requested_by_name ?? 'Someone'} asks to drive this thread`}
        actions={
          <>
            <Button look="ghost" onClick={() => setLater(who)}>
              Not now
            </Button>
            <Button
              look="primary"
              busy={busy}
              disabled={live}
              onClick={() =>
                run(() => client.handOverLock(thread.id, who), `${lock.requested_by_name ?? 'They'} can drive now.`)
              }
            >
              Hand over
            </Button>
          </>
        }
      >
        {live ? 'You can hand over when this answer has ended.' : 'You can keep reading, and request it back.'}
      </Banner>
    </div>
  )
}
