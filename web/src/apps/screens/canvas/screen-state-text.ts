/** The text of a screen's badge. Pure. */
import type { Sandbox, ScreenData } from '@outlast/sdk'
import type { Tone } from '@/components/tones'
import { plural } from '@/lib/format'
import type { SnapshotNews } from '@/features/sandboxes/snapshot-news'

export interface Look {
  name:
    | 'new'
    | 'working'
    | 'waiting'
    | 'ready'
    | 'problems'
    | 'failed'
    | 'asleep'
    | 'starting'
    | 'building'
    | 'server-failed'
  tone: Tone
  label: string
  /** One more line, if there is room. */
  detail: string
}

/** The development server of a screen's sandbox. */
export const DEV = 'dev'

export type Opening = 'asleep' | 'building' | 'sandbox' | 'server' | 'ready' | 'failed'

/** The step that opening an app has reached, from no sandbox to an answering server. */
export function openingOf(sandbox: Sandbox | undefined, building: SnapshotNews | undefined): Opening {
  if (sandbox === undefined) return building?.kind === 'building' ? 'building' : 'asleep'
  if (sandbox.state === 'creating') return building?.kind === 'building' ? 'building' : 'sandbox'
  if (sandbox.state === 'resuming') return 'sandbox'
  if (sandbox.state !== 'ready') return 'asleep'
  const server = sandbox.services.find(({ name }) => name === DEV)
  if (server?.state === 'healthy') return 'ready'
  if (server?.state === 'failed') return 'failed'
  return 'server'
}

const OPENING: Partial<Record<Opening, Omit<Look, 'detail'>>> = {
  asleep: { name: 'starting', tone: 'busy', label: 'Waking…' },
  building: { name: 'building', tone: 'busy', label: 'Building the template' },
  sandbox: { name: 'starting', tone: 'busy', label: 'Starting…' },
  server: { name: 'starting', tone: 'busy', label: 'Starting the server…' },
  failed: { name: 'server-failed', tone: 'bad', label: 'Server failed' },
}

interface Known {
  sandbox: Sandbox | undefined
  building: SnapshotNews | undefined
  /** This user is waiting for its app. */
  opening: boolean
  /** The current activity of its run, if this page follows it. */
  words?: string
}

export function lookOfScreen(screen: ScreenData, { sandbox, building, opening, words = '' }: Known): Look {
  const way = openingOf(sandbox, building)
  const waits = way === 'asleep' ? opening : opening || screen.state === 'working'
  const onItsWay = waits || way === 'failed' ? OPENING[way] : undefined
  if (opening && screen.trouble !== null)
    return { name: 'server-failed', tone: 'bad', label: 'Cannot start', detail: screen.trouble }
  const detail = way === 'building' ? (building?.detail ?? '') : ''
  switch (screen.state) {
    case 'working':
      if (onItsWay !== undefined && way !== 'failed') return { ...onItsWay, detail }
      return { name: 'working', tone: 'busy', label: words === '' ? 'Working…' : words, detail: '' }
    case 'waiting':
      return { name: 'waiting', tone: 'wait', label: words === '' ? 'Waiting for you' : words, detail: '' }
    case 'failed':
      return { name: 'failed', tone: 'bad', label: 'Failed', detail: 'The last run ended with an error.' }
    case 'problems':
      return {
        name: 'problems',
        tone: 'warn',
        label: plural(Math.max(1, screen.problems.length), 'problem'),
        detail: screen.problems.join('\n'),
      }
    case 'new':
      return onItsWay !== undefined ? { ...onItsWay, detail } : { name: 'new', tone: 'quiet', label: 'New', detail: '' }
    case 'ready':
      if (onItsWay !== undefined) return { ...onItsWay, detail }
      return way === 'ready'
        ? { name: 'ready', tone: 'good', label: 'Ready', detail: '' }
        : { name: 'asleep', tone: 'quiet', label: 'Asleep', detail: 'It wakes when it is opened.' }
  }
}
