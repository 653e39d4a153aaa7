import { useState } from 'react'
import type { RunState } from '@outlast/sdk'
import { Button } from '@/components/button'
import { complain } from '@/components/toast'
import { client } from '@/lib/queries'
import { ClockNote } from './clock-note'

/** The sandbox is paused until a person decides; it can also be woken without a decision. */
export function PausedNote({ run }: { run: RunState }) {
  const [busy, setBusy] = useState(false)
  const resume = () => {
    setBusy(true)
    client
      .resume(run.run_id)
      .catch(complain)
      .finally(() => setBusy(false))
  }
  return (
    <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-line bg-side px-3.5 py-2.5">
      <p className="min-w-0 flex-1">
        <span className="font-medium">Generation paused.</span>{' '}
        <span className="text-muted">The sandbox is asleep to save resources. It wakes up when you decide.</span>
        <ClockNote run={run} className="block text-xs text-faint" />
      </p>
      <Button size="sm" busy={busy} onClick={resume}>
        Wake the sandbox
      </Button>
    </div>
  )
}
