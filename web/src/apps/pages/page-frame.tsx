import { useCallback, useEffect, useRef, useState } from 'react'
import type { LivePage, PageChange } from '@outlast/sdk'
import { say } from '@/components/toast'
import { cn } from '@/lib/cn'
import { useDark } from '@/lib/theme'
import { readFromFrame, type ToFrame } from '@/page-runtime/protocol'
import { useMe } from '@/features/session/session-gate'
import { shellAddress } from './frame-address'

/** A person's action in the frame; `key` is the frame's id of it. */
export interface FrameAction {
  key: string
  name: string
  data: Record<string, unknown>
}

interface PageFrameProps {
  pageId: string
  title: string
  live: LivePage
  /** An earlier version, shown in place of the page. */
  past: { version: number; html: string } | null
  readOnly: boolean
  busyKeys: readonly string[]
  onAction: (action: FrameAction) => void
  onUndo: () => void
  className?: string
}

const SANDBOX = 'allow-scripts allow-forms'
const SLOW_MS = 8000

/** The page in a frame on a separate host. The app sends it the content, and the frame sends back the reader's
 * actions. */
export function PageFrame(props: PageFrameProps) {
  const { pageId, title, live, past, readOnly, busyKeys, onAction, onUndo, className } = props
  const { pages_domain } = useMe()
  const dark = useDark()
  const frame = useRef<HTMLIFrameElement>(null)
  const [turn, setTurn] = useState(0)
  const [ready, setReady] = useState(false)
  const [shown, setShown] = useState<number | null>(null)
  const [slow, setSlow] = useState(false)
  const loads = useRef(0)
  const callbacks = useRef({ onAction, onUndo })
  useEffect(() => {
    callbacks.current = { onAction, onUndo }
  })
  // The frame's document has an opaque origin, so messages cannot name a target origin. Our policy limits what may load
  // in it, and a frame that navigates away is discarded.
  const send = useCallback((message: ToFrame) => frame.current?.contentWindow?.postMessage(message, '*'), [])

  useEffect(() => {
    const onMessage = ({ source, origin, data }: MessageEvent) => {
      if (source === null || source !== frame.current?.contentWindow || origin !== 'null') return
      const message = readFromFrame(data)
      switch (message?.type) {
        case 'ready':
          return setReady(true)
        case 'applied':
          return setShown(message.version)
        case 'lost':
          return live.reread()
        case 'action':
          return callbacks.current.onAction(message)
        case 'open':
          return void window.open(message.href, '_blank', 'noopener,noreferrer')
        case 'trouble':
          return say(message.text)
        case 'undo':
          return callbacks.current.onUndo()
      }
    }
    addEventListener('message', onMessage)
    return () => removeEventListener('message', onMessage)
  }, [live])
  const why = past === null ? null : `This is version ${past.version}. Go back to now to use the page.`
  useEffect(() => {
    if (ready) send({ outlast: 'page', type: 'look', theme: dark ? 'dark' : 'light', readOnly, why })
  }, [ready, dark, readOnly, why, send])
  useEffect(() => {
    if (!ready) return
    if (past !== null) return send({ outlast: 'page', type: 'html', version: past.version, html: past.html })
    return live.attach((change: PageChange) => {
      if (change.kind === 'html') send({ outlast: 'page', type: 'html', version: change.version, html: change.html })
      else send({ ...change, outlast: 'page', type: 'patches' })
    })
  }, [ready, past, live, send])
  useEffect(() => {
    if (ready) send({ outlast: 'page', type: 'busy', keys: busyKeys })
  }, [ready, busyKeys, send])
  useEffect(() => {
    if (ready) return setSlow(false)
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => clearTimeout(timer)
  }, [ready, turn])
  const again = () => {
    loads.current = 0
    setReady(false)
    setTurn((last) => last + 1)
  }
  return (
    <div className={cn('relative min-h-0', className)}>
      <iframe
        key={turn}
        ref={frame}
        title={title}
        data-page-frame={pageId}
        data-shown={shown ?? undefined}
        data-past={past?.version}
        src={shellAddress(pageId, pages_domain, location)}
        sandbox={SANDBOX}
        referrerPolicy="no-referrer"
        onLoad={() => {
          loads.current += 1
          if (loads.current > 1) again()
        }}
        className={cn(
          'absolute inset-0 block size-full border-0 bg-bg transition-opacity duration-200',
          past !== null && 'opacity-60 saturate-50',
          shown === null && 'opacity-0',
        )}
      />
      {slow && (
        <div role="alert" className="absolute inset-0 grid place-items-center p-6 text-center">
          <div>
            <p className="font-medium">The page does not respond</p>
            <p className="mt-1 max-w-sm text-muted">
              It is served from {pages_domain}. Check that this name resolves to this server and that the web app is
              built.
            </p>
            <button className="mt-3 text-link underline underline-offset-2" onClick={again}>
              Try again
            </button>
          </div>
        </div>
      )}
    </div>
  )
}
