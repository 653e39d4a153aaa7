import type { Sandbox, ServiceState } from '@outlast/sdk'

interface Look {
  label: string
  /** Classes of the dot. */
  dot: string
}

const STATES: Record<Sandbox['state'], Look> = {
  creating: { label: 'Starting', dot: 'bg-accent animate-breathe' },
  ready: { label: 'Awake', dot: 'bg-ok' },
  pausing: { label: 'Pausing', dot: 'bg-amber animate-breathe' },
  paused: { label: 'Paused', dot: 'border-2 border-amber' },
  resuming: { label: 'Resuming', dot: 'bg-accent animate-breathe' },
  lost: { label: 'Lost', dot: 'bg-danger' },
  killed: { label: 'Killed', dot: 'bg-faint' },
}

const SERVICES: Record<ServiceState['state'], Look> = {
  stopped: { label: 'stopped', dot: 'border-2 border-faint' },
  starting: { label: 'starting', dot: 'bg-accent animate-breathe' },
  healthy: { label: 'healthy', dot: 'bg-ok' },
  failed: { label: 'failed', dot: 'bg-danger' },
}

/** The label and colour of a sandbox's state. */
export function lookOf({ state, pause_kind, active_run_id, clocks }: Sandbox): Look {
  if (pause_kind === 'frozen') return { label: 'Frozen', dot: 'border-2 border-amber' }
  if (pause_kind === 'stopped') return { label: 'Stopped', dot: 'border-2 border-faint' }
  if (state === 'ready' && active_run_id !== null && clocks.length === 0)
    return { label: 'Working', dot: 'bg-accent animate-breathe' }
  return STATES[state]
}

/** A service in a paused sandbox is frozen, regardless of its last state. */
export const lookOfService = ({ state }: Pick<ServiceState, 'state'>): Look => SERVICES[state]
