import { CircleAlert, FileText, LoaderCircle, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { KnowledgeSource } from '@outlast/sdk'
import { Button, IconButton } from '@/components/button'
import { Confirm } from '@/components/confirm'
import { Since } from '@/components/time'
import { complain } from '@/components/toast'
import { cn } from '@/lib/cn'
import { bytes, plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { dropSource, isBusy, KINDS, nameOf, replaceSource } from './knowledge'

interface SourceRowProps {
  projectId: string
  source: KnowledgeSource
  mayEdit: boolean
  embeds: boolean
  onPassages: () => void
}

/** A source of passages: its state, its age and its actions. */
export function SourceRow({ projectId, source, mayEdit, embeds, onPassages }: SourceRowProps) {
  const [asking, setAsking] = useState(false)
  const refresh = () =>
    client.knowledge
      .refresh(source.id)
      .then((now) => replaceSource(projectId, source, now))
      .catch(complain)
  const remove = () =>
    client.knowledge
      .remove(source.id)
      .then(() => dropSource(projectId, source.id))
      .catch(complain)
  const own = source.project_id !== null
  return (
    <li data-source={source.id} data-state={source.state} className="px-4 py-3 sm:px-5">
      <div className="flex items-start gap-3">
        <StateMark source={source} />
        <div className="min-w-0 flex-1">
          <p className="truncate" title={source.location}>
            {nameOf(source)}
          </p>
          <p className="mt-0.5 flex flex-wrap items-center gap-x-2 text-xs text-faint">
            <span>{KINDS[source.kind]}</span>
            <Stand source={source} />
            {!own && <span title="From the server’s configuration, for all projects">configured</span>}
          </p>
          {source.error !== null && <Trouble source={source} onRetry={() => void refresh()} />}
          {embeds && <Embedding source={source} />}
        </div>
        <div className="-mr-1.5 flex shrink-0 items-center">
          {source.passages > 0 && (
            <IconButton label={`Passages of ${nameOf(source)}`} onClick={onPassages}>
              <FileText />
            </IconButton>
          )}
          {mayEdit && source.kind !== 'text' && (
            <IconButton label="Refresh" disabled={isBusy(source)} onClick={() => void refresh()}>
              <RefreshCw className={cn(source.state === 'fetching' && 'animate-spin')} />
            </IconButton>
          )}
          {mayEdit && own && (
            <IconButton label="Remove" onClick={() => setAsking(true)}>
              <Trash2 />
            </IconButton>
          )}
        </div>
      </div>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Remove this source?"
        action="Remove"
        onConfirm={() => void remove()}
      >
        Agents can no longer find its {plural(source.passages, 'passage')}. “{nameOf(source)}” itself does not change.
      </Confirm>
    </li>
  )
}

function StateMark({ source }: { source: KnowledgeSource }) {
  if (isBusy(source)) return <LoaderCircle className="mt-0.5 size-4 shrink-0 animate-spin text-link" aria-hidden />
  const look = source.state === 'failed' ? 'bg-danger' : source.error !== null ? 'bg-amber' : 'bg-ok'
  return (
    <span className="grid size-4 shrink-0 translate-y-0.5 place-items-center" aria-hidden>
      <span className={cn('size-2 rounded-full', look)} />
    </span>
  )
}

function Stand({ source }: { source: KnowledgeSource }) {
  const hasPassages = source.passages > 0
  return (
    <>
      {source.state === 'waiting' && <span className="text-muted">waiting to be read</span>}
      {source.state === 'fetching' && <span className="text-muted">being read…</span>}
      {source.state === 'failed' && <span className="text-danger">could not be read</span>}
      {hasPassages && (
        <span className="tabular-nums">
          {plural(source.passages, 'passage')}, {bytes(source.size_bytes)}
        </span>
      )}
      {source.version !== '' && <span>version {source.version}</span>}
      {source.fetched_at !== null && (
        <span>
          read <Since iso={source.fetched_at} />
        </span>
      )}
    </>
  )
}

const Trouble = ({ source, onRetry }: { source: KnowledgeSource; onRetry: () => void }) => (
  <div
    role="alert"
    className={cn(
      'mt-2 flex items-start gap-2 rounded-lg border px-3 py-2 text-[13px]',
      source.state === 'failed' ? 'border-danger-line bg-danger-soft' : 'border-warn-line bg-warn-soft',
    )}
  >
    <CircleAlert
      className={cn('mt-0.5 size-4 shrink-0', source.state === 'failed' ? 'text-danger' : 'text-warn')}
      aria-hidden
    />
    <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
      {source.error}
      {source.passages > 0 && source.state === 'failed' && ' The previous version can still be found.'}
    </p>
    <Button size="sm" disabled={isBusy(source)} onClick={onRetry}>
      Try again
    </Button>
  </div>
)

function Embedding({ source }: { source: KnowledgeSource }) {
  if (source.passages === 0 || source.embedded >= source.passages) return null
  const share = source.embedded / source.passages
  return (
    <div className="mt-2 flex items-center gap-2 text-xs text-faint tabular-nums">
      <div
        role="progressbar"
        aria-label="Vectors computed"
        aria-valuemin={0}
        aria-valuemax={source.passages}
        aria-valuenow={source.embedded}
        className="h-1.5 w-32 overflow-hidden rounded-full bg-active"
      >
        <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${share * 100}%` }} />
      </div>
      {source.embedded} of {source.passages} have vectors; the others match by words only
    </div>
  )
}
