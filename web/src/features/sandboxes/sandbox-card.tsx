import { Play, Pause, ScrollText, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Sandbox } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Since } from '@/components/time'
import { complain } from '@/components/toast'
import { UNTITLED } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import { cn } from '@/lib/cn'
import { Clocks } from './clocks'
import { LogsDialog } from './logs-dialog'
import { Meters } from './meters'
import { ServiceRow } from './service-row'
import { lookOf } from './sandbox-state'

/** One sandbox with everything that an operator needs. */
export function SandboxCard({ sandbox, mayChange }: { sandbox: Sandbox; mayChange: boolean }) {
  const { label, dot } = lookOf(sandbox)
  const [logs, setLogs] = useState<string | null>(null)
  const title = titleOf(sandbox)
  return (
    <li data-sandbox={sandbox.id} data-state={sandbox.pause_kind ?? sandbox.state}>
      <article aria-label={`Sandbox of ${title}`} className="rounded-2xl border border-line bg-raised">
        <header className="flex items-start gap-3 px-4 pt-3.5 sm:px-5">
          <span aria-hidden className={cn('mt-1.5 size-2.5 shrink-0 rounded-full', dot)} />
          <div className="min-w-0 flex-1">
            <h2 className="truncate font-semibold">
              {sandbox.thread_id === null ? (
                title
              ) : (
                <Link href={`/threads/${sandbox.thread_id}`} className="hover:underline">
                  {title}
                </Link>
              )}
            </h2>
            <p className="mt-0.5 text-xs text-faint sm:truncate">
              <span className="font-medium text-muted">{label}</span>
              {sandbox.user_name !== null && <> · {sandbox.user_name}</>} · created <Since iso={sandbox.created_at} />,
              last used <Since iso={sandbox.last_used_at} />
            </p>
          </div>
          <Actions sandbox={sandbox} mayChange={mayChange} title={title} onLogs={() => setLogs('')} />
        </header>
        <Meters sandbox={sandbox} />
        {sandbox.services.length > 0 && (
          <ul aria-label="Services" className="border-t border-line px-4 py-2 sm:px-5">
            {sandbox.services.map((service) => (
              <ServiceRow key={service.name} service={service} onLogs={() => setLogs(service.name)} />
            ))}
          </ul>
        )}
        <Clocks sandbox={sandbox} />
      </article>
      {logs !== null && <LogsDialog sandbox={sandbox} first={logs} onClose={() => setLogs(null)} />}
    </li>
  )
}

function titleOf({ thread_title, owner_type }: Sandbox): string {
  if (thread_title !== null && thread_title !== '') return thread_title
  return owner_type === 'api' ? 'Created by a program' : UNTITLED
}

interface ActionsProps {
  sandbox: Sandbox
  mayChange: boolean
  title: string
  onLogs: () => void
}

function Actions({ sandbox, mayChange, title, onLogs }: ActionsProps) {
  const [busy, setBusy] = useState<'pause' | 'resume' | 'kill' | null>(null)
  const [asking, setAsking] = useState<'pause' | 'kill' | null>(null)
  const works = sandbox.active_run_id !== null && sandbox.clocks.length === 0
  const act = (verb: 'pause' | 'resume' | 'kill') => {
    setBusy(verb)
    const call = { pause: client.pauseSandbox, resume: client.resumeSandbox, kill: client.killSandbox }[verb]
    call(sandbox.id)
      .catch(complain)
      .then(() => queryClient.invalidateQueries({ queryKey: ['sandboxes'] }))
      .finally(() => setBusy(null))
  }
  return (
    <div className="-mr-1.5 flex shrink-0 items-center gap-1">
      {mayChange && sandbox.state === 'ready' && (
        <Button size="sm" busy={busy === 'pause'} onClick={() => (works ? setAsking('pause') : act('pause'))}>
          {busy !== 'pause' && <Pause />}
          <span className="max-sm:sr-only">Pause</span>
        </Button>
      )}
      {mayChange && sandbox.state === 'paused' && (
        <Button size="sm" busy={busy === 'resume'} onClick={() => act('resume')}>
          {busy !== 'resume' && <Play />}
          <span className="max-sm:sr-only">Resume</span>
        </Button>
      )}
      <IconButton label="Logs" onClick={onLogs}>
        <ScrollText />
      </IconButton>
      {mayChange && (
        <IconButton label="Kill" busy={busy === 'kill'} onClick={() => setAsking('kill')}>
          {busy !== 'kill' && <Trash2 />}
        </IconButton>
      )}
      <Confirm
        open={asking === 'pause'}
        onClose={() => setAsking(null)}
        title="Pause this sandbox while a run is active?"
        action="Pause"
        onConfirm={() => act('pause')}
      >
        Processes in the sandbox of “{title}” freeze until it is used again. The run wakes it up with its next step.
      </Confirm>
      <Confirm
        open={asking === 'kill'}
        onClose={() => setAsking(null)}
        title="Kill this sandbox?"
        action="Kill"
        onConfirm={() => act('kill')}
      >
        {works ? 'A run is active in it. ' : ''}All processes in the sandbox of “{title}” end, and their memory is lost.
        The files are kept; a new sandbox starts when they are needed.
      </Confirm>
    </div>
  )
}
