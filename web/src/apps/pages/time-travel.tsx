import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import type { PageData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { complain, say } from '@/components/toast'
import { client } from '@/lib/queries'
import { putPage } from './pages'

interface TimeTravelProps {
  page: PageData
  now: number
  first: number
  past: number
  mayRestore: boolean
  onLook: (version: number | null) => void
}

/** Above the page while an earlier version is shown: move between versions, return to the current one, or restore. */
export function TimeTravel({ page, now, first, past, mayRestore, onLook }: TimeTravelProps) {
  const [busy, setBusy] = useState(false)
  const working = page.active_run_id !== null
  const restore = () => {
    setBusy(true)
    client.pages
      .restore(page.id, past)
      .then((changed) => {
        putPage(changed)
        say(`Version ${past} restored. Later versions stay in the history.`)
        onLook(null)
      }, complain)
      .finally(() => setBusy(false))
  }
  return (
    <section
      aria-label="Earlier version"
      data-time-travel={past}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-warn-line bg-warn-soft px-4 py-2 text-[13px]"
    >
      <p className="text-warn">
        Viewing version <b className="tabular-nums">{past}</b> of <span className="tabular-nums">{now}</span>
      </p>
      <input
        type="range"
        aria-label="Version"
        min={first}
        max={now}
        value={past}
        autoFocus
        className="h-5 min-w-32 flex-1 accent-accent"
        onChange={({ currentTarget: { valueAsNumber } }) => onLook(valueAsNumber === now ? null : valueAsNumber)}
        onKeyDown={(event) => event.key === 'Escape' && onLook(null)}
      />
      <span className="flex gap-2">
        <Button size="sm" onClick={() => onLook(null)}>
          Back to current
        </Button>
        {mayRestore && (
          <Button
            size="sm"
            look="primary"
            busy={busy}
            disabled={working}
            title={working ? 'Available when the run has ended' : undefined}
            onClick={restore}
          >
            {!busy && <RotateCcw />}
            Restore
          </Button>
        )}
      </span>
    </section>
  )
}
