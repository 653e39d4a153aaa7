/** A page's state as people read it. Pure. */
import type { PageState } from '@outlast/sdk'

export type Tone = 'quiet' | 'busy' | 'wait' | 'good' | 'warn' | 'bad'

export const LOOKS: Record<PageState, { label: string; tone: Tone; detail: string }> = {
  new: { label: 'Empty', tone: 'quiet', detail: 'Nothing was asked for yet.' },
  working: { label: 'Working', tone: 'busy', detail: 'An agent changes it now.' },
  waiting: { label: 'Waits for you', tone: 'wait', detail: 'The agent needs a decision or an answer.' },
  ready: { label: 'Ready', tone: 'good', detail: '' },
  problems: { label: 'Left undone', tone: 'warn', detail: 'The last run could not do all that it wanted.' },
  failed: { label: 'Stopped', tone: 'bad', detail: 'The last run was stopped by an error.' },
}

/** Where the frame of a page lies: a host of its own beside the app. */
export function shellAddress(
  pageId: string,
  domain: string,
  { protocol, port }: { protocol: string; port: string },
): string {
  return `${protocol}//${pageId.replaceAll('_', '-')}.${domain}${port === '' ? '' : `:${port}`}/`
}
