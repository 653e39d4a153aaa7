import { useEffect, useState } from 'react'
import type { Sandbox, ScreenData } from '@outlast/sdk'
import { client } from '@/lib/queries'
import type { SnapshotNews } from '@/features/sandboxes/snapshot-news'
import { openingOf, type Opening } from './screen-state-text'

interface Entry {
  address: string
  origin: string
}

export interface FrameOpening {
  way: Opening
  /** The address of the frame and the origin of its page; null until its server answers. */
  entry: Entry | null
  error: Error | null
  again: () => void
  /** Wakes the sandbox of an open frame; the frame reloads when its server answers. */
  wake: () => void
}

/** A screen that is selected only in passing wakes no sandbox. */
const PAUSE_MS = 350

/** Opens a screen's app in a frame: wakes or creates its sandbox, waits for its development server, and requests a
 * ticket. `turn`: a new number requests a new ticket. A run that works on the screen creates the sandbox itself. */
export function useFrameOpening(
  screen: ScreenData,
  sandbox: Sandbox | undefined,
  building: SnapshotNews | undefined,
  turn: number,
): FrameOpening {
  const way = openingOf(sandbox, building)
  const [tries, setTries] = useState(0)
  const [error, setError] = useState<Error | null>(null)
  const [entry, setEntry] = useState<Entry | null>(null)
  const ready = way === 'ready'
  const working = screen.state === 'working' || screen.state === 'waiting'
  const sleeps = way === 'asleep'
  useEffect(() => {
    if (!sleeps || working || entry !== null) return
    const timer = setTimeout(() => {
      setError(null)
      client.screens.open(screen.id).catch((reason: Error) => setError(reason))
    }, PAUSE_MS)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line exhaustive-deps -- an open frame stays as it is when its sandbox pauses
  }, [screen.id, sleeps, working, tries])
  useEffect(() => {
    if (!ready) return
    let current = true
    client.screens.preview(screen.id).then(
      ({ ticket_url, url }) => {
        if (!current) return
        setError(null)
        setEntry({ address: ticket_url, origin: new URL(url).origin })
      },
      (reason: Error) => current && setError(reason),
    )
    return () => {
      current = false
    }
  }, [screen.id, ready, turn, tries])
  const wake = () => void client.screens.open(screen.id).catch((reason: Error) => setError(reason))
  return { way, entry, error, again: () => setTries((tried) => tried + 1), wake }
}
