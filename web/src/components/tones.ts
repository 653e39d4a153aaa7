/** The tones of state badges, and their colours. */
export type Tone = 'quiet' | 'busy' | 'wait' | 'good' | 'warn' | 'bad'

export const TONES: Record<Tone, string> = {
  quiet: 'text-muted',
  busy: 'text-link',
  wait: 'text-warn',
  good: 'text-ok',
  warn: 'text-warn',
  bad: 'text-danger',
}
