import { MonitorSmartphone, Moon } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import { Button } from '@/components/button'
import { Problem } from '@/components/problem'
import { Empty, Skeleton } from '@/components/placeholders'
import { client } from '@/lib/queries'
import { cn } from '@/lib/cn'
import { WIDTHS, type Width } from './preview-widths'

interface FrameProps {
  sandboxId: string
  port: number
  width: Width
  /** A new number reloads the frame. */
  turn: number
  /** True if its sandbox is paused: the content of the frame is frozen then. */
  asleep: boolean
  onWake: () => void
}

/** The server on a port of the sandbox, in a frame with its own origin. Each load from here needs a ticket. */
export function PreviewFrame({ sandboxId, port, width, turn, asleep, onWake }: FrameProps) {
  const { address, error, again } = useTicket(sandboxId, port, turn)
  const [loaded, setLoaded] = useState('')
  if (error !== null) return <Problem className="m-4" error={error} retry={again} />
  return (
    <div className="relative min-h-0 flex-1 overflow-auto bg-side">
      {asleep && <Asleep onWake={onWake} />}
      {address !== '' && (
        <iframe
          key={address}
          title={`Preview of port ${port}`}
          src={address}
          sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads"
          allow="clipboard-write; fullscreen"
          referrerPolicy="no-referrer"
          onLoad={() => setLoaded(address)}
          style={{ width: WIDTHS[width].pixels ?? '100%' }}
          className={cn(
            'mx-auto box-content block h-full border-0 bg-white',
            width !== 'desktop' && 'border-x border-line',
          )}
        />
      )}
      {loaded !== address && (
        <div role="status" aria-label="Loading the preview" className="absolute inset-x-0 top-0 space-y-3 p-6">
          <Skeleton className="h-6 w-1/3" />
          <Skeleton className="h-4 w-2/3" />
        </div>
      )}
    </div>
  )
}

/** The address of the frame: a ticket is valid once, so each turn requests a new one. */
function useTicket(sandboxId: string, port: number, turn: number) {
  const [address, setAddress] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const [tries, setTries] = useState(0)
  useEffect(() => {
    let current = true
    client.openPreview(sandboxId, port).then(
      ({ ticket_url }) => current && (setError(null), setAddress(ticket_url)),
      (reason: Error) => current && setError(reason),
    )
    return () => {
      current = false
    }
  }, [sandboxId, port, turn, tries])
  return { address, error, again: useCallback(() => setTries((tried) => tried + 1), []) }
}

const Asleep = ({ onWake }: { onWake: () => void }) => (
  <div
    role="status"
    className="absolute inset-x-0 top-0 z-10 flex items-center gap-2.5 border-b border-line bg-raised/95 px-4 py-2"
  >
    <Moon className="size-4 shrink-0 text-amber" aria-hidden />
    <p className="min-w-0 flex-1 text-muted">The sandbox is asleep, so the preview is frozen.</p>
    <Button size="sm" onClick={onWake}>
      Wake up
    </Button>
  </div>
)

/** Shown while no port is open. */
export const NoPorts = () => (
  <Empty className="pt-[16vh]" icon={<MonitorSmartphone />} title="No preview yet">
    When a server starts in the sandbox, such as a development server, it appears here. Or enter its port above.
  </Empty>
)
