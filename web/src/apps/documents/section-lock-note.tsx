import { Hand, LockKeyhole, LockKeyholeOpen } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Button } from '@/components/button'
import { complain, say } from '@/components/toast'
import { clockTime } from '@/lib/format'
import { client } from '@/lib/queries'
import { useMe } from '@/features/session/session-gate'
import { useDocumentRoom } from './document-context'
import { useSectionLock } from './section-lock'

/** Under a section's heading: the holder of its lock, the expiry, and the available actions. */
export function SectionLockNote({ sectionId }: { sectionId: string }) {
  const { mayEdit } = useDocumentRoom()
  const { lock, state } = useSectionLock(sectionId)
  const me = useMe()
  const [busy, run] = useRun()
  const [later, setLater] = useState<string | null>(null)
  if (lock === null || state === 'free') return null
  const until = clockTime(lock.expires_at)
  const { requested_by: asking, holder_name: holder } = lock
  if (state === 'mine') {
    if (asking === null || asking === later)
      return (
        <Line icon={<LockKeyhole />} words={`Locked by you until ${until}`} quiet>
          <Button
            size="sm"
            look="ghost"
            busy={busy}
            onClick={() => run(client.documents.releaseSection(sectionId), '')}
          >
            Release the lock
          </Button>
        </Line>
      )
    const who = lock.requested_by_name ?? 'Someone'
    return (
      <Line icon={<Hand />} words={`${who} requests this section`}>
        <Button size="sm" look="ghost" onClick={() => setLater(asking)}>
          Not now
        </Button>
        <Button
          size="sm"
          look="primary"
          busy={busy}
          onClick={() => run(client.documents.handOverSection(sectionId, asking), `Handed over to ${who}`)}
        >
          Hand over
        </Button>
      </Line>
    )
  }
  if (state === 'expired')
    return (
      <Line icon={<LockKeyholeOpen />} words={`The lock of ${holder} expired at ${until}`}>
        {mayEdit && (
          <Button
            size="sm"
            busy={busy}
            onClick={() => run(client.documents.lockSection(sectionId, true), 'You have the lock now')}
          >
            Take over
          </Button>
        )}
      </Line>
    )
  const asked = asking === me.user.id
  return (
    <Line icon={<LockKeyhole />} words={`Locked by ${holder} until ${until}`}>
      {mayEdit && (
        <Button
          size="sm"
          disabled={asked}
          busy={busy}
          onClick={() => run(client.documents.requestSection(sectionId), `Request sent to ${holder}.`)}
        >
          {asked ? 'Requested' : 'Request the lock'}
        </Button>
      )}
    </Line>
  )
}

export function useRun(): [boolean, (work: Promise<unknown>, done: string) => void] {
  const [busy, setBusy] = useState(false)
  const run = (work: Promise<unknown>, done: string) => {
    setBusy(true)
    work.then(() => done !== '' && say(done), complain).finally(() => setBusy(false))
  }
  return [busy, run]
}

interface LineProps {
  icon: ReactNode
  words: string
  quiet?: boolean
  children: ReactNode
}

const Line = ({ icon, words, quiet = false, children }: LineProps) => (
  <div
    role="status"
    data-section-lock
    className={`lock-note [&>svg]:size-3.5 [&>svg]:shrink-0 ${quiet ? 'pl-0! text-muted' : 'border border-warn-line bg-warn-soft [&>svg]:text-warn'}`}
  >
    {icon}
    <span className="min-w-0 flex-1 truncate">{words}</span>
    {children}
  </div>
)
