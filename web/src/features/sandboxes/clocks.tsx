import { Link } from 'wouter'
import type { Sandbox } from '@outlast/sdk'
import { Countdown } from '@/components/time'
import { Tip } from '@/components/tooltip'

/** Short names of timers; the server's own sentence is shown on hover and read aloud. */
const WORDS: Record<string, string> = {
  sandbox_pause: 'Pauses in',
  sandbox_stop: 'Stops in',
  sandbox_kill: 'Killed in',
  program_pause: 'Paused by its program in',
  program_kill: 'Killed by its program in',
  workspace_evict: 'Local files removed in',
}

/** Every timer of the sandbox as a countdown; none while a run uses it. */
export function Clocks({ sandbox }: { sandbox: Sandbox }) {
  const { clocks, active_run_id } = sandbox
  if (clocks.length === 0 && active_run_id === null) return null
  return (
    <footer className="flex flex-wrap items-center gap-x-5 gap-y-1 border-t border-line px-4 py-2.5 text-xs text-muted sm:px-5">
      {clocks.length === 0 ? (
        <span>No timers while a run is active.</span>
      ) : (
        <ul aria-label="Timers" className="flex flex-wrap gap-x-5 gap-y-1">
          {clocks.map(({ name, due_at, takes_away }) => (
            <li key={name} data-clock={name}>
              <Tip label={takes_away}>
                <span tabIndex={0} aria-description={takes_away}>
                  {WORDS[name] ?? name}{' '}
                  <span className="font-medium text-fg">
                    <Countdown iso={due_at} />
                  </span>
                </span>
              </Tip>
            </li>
          ))}
        </ul>
      )}
      {active_run_id !== null && (
        <Link href={`/runs/${active_run_id}`} className="ml-auto text-link underline underline-offset-2">
          {clocks.length === 0 ? 'Active run' : 'Waiting run'}
        </Link>
      )}
    </footer>
  )
}
