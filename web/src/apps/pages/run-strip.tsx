import { Check, CircleAlert, LoaderCircle, MessageCircleQuestion, Square } from 'lucide-react'
import { useState } from 'react'
import { statusText, toolLabel, type RunState, type ToolCallPart } from '@outlast/sdk'
import { Button } from '@/components/button'
import { complain } from '@/components/toast'
import { parseObject, plural } from '@/lib/format'
import { client } from '@/lib/queries'
import { PendingCard } from '@/features/threads/pending-card'
import { title } from '@/features/threads/tool-text'

const SHOWN = 4
const TROUBLE = new Set<ToolCallPart['status']>(['error', 'denied', 'interrupted', 'cancelled'])

/** The agent's current activity, with a button to stop it. Its questions are answered here too. */
export function RunStrip({ run, mayStop }: { run: RunState; mayStop: boolean }) {
  const [stopping, setStopping] = useState(false)
  const calls = run.parts.filter((part) => part.type === 'tool_call')
  const pieces = run.parts.filter((part) => part.type === 'page')
  const changes = pieces.reduce((sum, { patches, whole }) => sum + (whole ? 1 : patches), 0)
  const hidden = calls.length - SHOWN
  const stop = () => {
    setStopping(true)
    client
      .cancel(run.run_id)
      .catch(complain)
      .finally(() => setStopping(false))
  }
  return (
    <section aria-label="Agent activity" data-run-strip={run.run_id} className="space-y-2">
      {run.pending.map((item) => (
        <PendingCard key={item.id} pending={item} />
      ))}
      <div className="rounded-xl border border-line bg-raised px-3 py-2">
        <div className="flex items-center gap-2.5">
          <span className="size-2 shrink-0 animate-breathe rounded-full bg-accent" aria-hidden />
          <p role="status" data-status-text className="min-w-0 flex-1 truncate text-[13px]">
            <span className="shimmer-text">{statusText(run)}</span>
            {changes > 0 && <span className="text-faint"> · {plural(changes, 'change')} so far</span>}
          </p>
          {mayStop && (
            <Button size="sm" look="ghost" busy={stopping} onClick={stop}>
              {!stopping && <Square className="size-2.5! fill-current" />}
              Stop
            </Button>
          )}
        </div>
        {calls.length > 0 && (
          <ol aria-label="Steps" className="mt-1 space-y-0.5">
            {hidden > 0 && <li className="pl-5.5 text-xs text-faint">{plural(hidden, 'earlier step')}</li>}
            {calls.slice(-SHOWN).map((part) => (
              <Call key={part.id} part={part} />
            ))}
          </ol>
        )}
      </div>
    </section>
  )
}

function Call({ part }: { part: ToolCallPart }) {
  const summary = title(part.tool, parseObject(part.arguments))
  return (
    <li data-tool={part.tool} data-tool-status={part.status} className="flex items-center gap-2 text-[13px]">
      <span className="grid size-3.5 shrink-0 place-items-center [&_svg]:size-3.5" aria-hidden>
        <Mark status={part.status} />
      </span>
      <span className="shrink-0">{toolLabel(part)}</span>
      <span className="min-w-0 truncate text-muted">{summary}</span>
    </li>
  )
}

function Mark({ status }: { status: ToolCallPart['status'] }) {
  if (status === 'done') return <Check className="text-ok" />
  if (status === 'waiting') return <MessageCircleQuestion className="text-warn" />
  if (TROUBLE.has(status)) return <CircleAlert className="text-danger" />
  return <LoaderCircle className="animate-spin text-link" />
}
