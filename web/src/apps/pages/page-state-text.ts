/** A page's state for display. Pure. */
import type { PageState } from '@outlast/sdk'
import type { Tone } from '@/components/tones'

export const LOOKS: Record<PageState, { label: string; tone: Tone; detail: string }> = {
  new: { label: 'Empty', tone: 'quiet', detail: 'No requests yet.' },
  working: { label: 'Working', tone: 'busy', detail: 'An agent is changing it.' },
  waiting: { label: 'Waiting for you', tone: 'wait', detail: 'The agent needs a decision or an answer.' },
  ready: { label: 'Ready', tone: 'good', detail: '' },
  problems: { label: 'Incomplete', tone: 'warn', detail: 'The last run could not apply all of its changes.' },
  failed: { label: 'Stopped', tone: 'bad', detail: 'The last run was stopped by an error.' },
}
