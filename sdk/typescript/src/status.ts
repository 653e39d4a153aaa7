/** The status line of a run, in words for users; derived only here. */
import type { ToolCallPart, WorkflowStep } from './api.gen.ts'
import type { RunState } from './fold.ts'
import { toolLabel, toolName, workflowNow } from './steps.ts'

export interface StatusOptions {
  /** Formats a time of day; by default in the user's locale. */
  time?: (iso: string) => string
}

const clockTime = (iso: string) => new Date(iso).toLocaleTimeString([], { timeStyle: 'medium' })

/** One short line; empty when the run is completed. */
export function statusText(run: RunState, { time = clockTime }: StatusOptions = {}): string {
  switch (run.status) {
    case 'queued':
      return run.retry_at === null ? 'Queued…' : `Retrying at ${time(run.retry_at)}`
    case 'awaiting_approval':
      return waitsForAnswer(run) ? 'Waiting for your answer' : 'Waiting for your approval'
    case 'paused':
      return 'Paused: waiting for you'
    case 'completed':
      return ''
    case 'cancelled':
      return 'Cancelled'
    case 'error':
      return 'Stopped by an error'
    case 'running':
      return run.retry_at === null ? runningText(run) : `Retrying at ${time(run.retry_at)}`
  }
}

export const waitsForAnswer = (run: RunState): boolean =>
  run.waiting_for === 'answer' || (run.waiting_for === null && run.pending[0]?.kind === 'question')

const ACTIVE = new Set(['streaming', 'pending', 'running'])

function runningText(run: RunState & { workflow?: readonly WorkflowStep[] }): string {
  if (run.waiting_for === 'run') return 'Waiting for another agent'
  if (run.waiting_for === 'time') return 'Waiting until later'
  const last = run.parts.at(-1)
  const tool = run.parts.findLast((part): part is ToolCallPart => part.type === 'tool_call' && ACTIVE.has(part.status))
  if (tool !== undefined)
    return run.profile === 'screen' || run.profile === 'document'
      ? `${toolLabel(tool)}…`
      : `Calling ${toolName(tool.tool)}…`
  const stage = workflowNow(run.workflow)
  if (stage !== null) return stage
  if (last === undefined) return 'Starting…'
  return last.type === 'text' && last.text !== '' ? 'Writing…' : 'Thinking…'
}
