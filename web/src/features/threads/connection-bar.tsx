import { LoaderCircle, RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ConnectionState } from '@outlast/sdk'

/** Shown when the stream has been disconnected for a moment. It reconnects by itself; the button retries at once. */
export function ConnectionBar({ connection, onWake }: { connection: ConnectionState; onWake: () => void }) {
  const away = connection.status === 'reconnecting'
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!away) return setShown(false)
    const timer = setTimeout(() => setShown(true), 700)
    return () => clearTimeout(timer)
  }, [away])
  if (!shown) return null
  return (
    <div
      role="status"
      data-connection="reconnecting"
      className="flex items-center justify-center gap-2 border-b border-warn-line bg-warn-soft px-4 py-1.5 text-[12.5px] text-warn"
    >
      <LoaderCircle className="size-3.5 animate-spin" aria-hidden />
      Reconnecting… Answers continue on the server.
      <button className="flex items-center gap-1 font-medium underline underline-offset-2" onClick={onWake}>
        <RotateCw className="size-3" />
        Try now
      </button>
    </div>
  )
}
