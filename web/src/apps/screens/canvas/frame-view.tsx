import { Moon } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { cn } from '@/lib/cn'
import { useCanvas } from './canvas-context'
import { useFrameOpening } from './frame-opening'
import { BlockedImages } from './blocked-images'
import { FrameTrouble } from './frame-trouble'
import { useFrameRegistry } from './live-frame'

const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads'

/** A screen's app, live. Clicks reach it only while the user interacts with it: otherwise it would capture drags. */
export function FrameView({ screen, interactive }: { screen: ScreenData; interactive: boolean }) {
  const { sandboxes, building } = useCanvas()
  const { turns, loaded, left, reload } = useFrameRegistry()
  const sandbox = sandboxes.get(screen.workspace_id)
  const opening = useFrameOpening(screen, sandbox, building.get(screen.template), turns.get(screen.id) ?? 0)
  const frame = useRef<HTMLIFrameElement>(null)
  const { entry } = opening
  useEffect(() => () => left(screen.id), [screen.id, entry?.address, left])
  useEffect(() => {
    if (interactive) frame.current?.focus()
  }, [interactive])
  const run = screen.active_run_id
  const during = useRef<string | null>(null)
  useEffect(() => {
    // A page misses changes made before its connection to the dev server is open, so a page that loaded during a run
    // reloads.
    if (during.current === null || during.current === run) return
    during.current = null
    reload(screen.id)
  }, [run, reload, screen.id])
  return (
    <>
      {entry !== null && (
        <iframe
          key={entry.address}
          ref={frame}
          title={`${screen.title}, live`}
          data-live-frame={screen.id}
          src={entry.address}
          sandbox={SANDBOX}
          allow="clipboard-write; fullscreen"
          referrerPolicy="no-referrer"
          tabIndex={interactive ? 0 : -1}
          onLoad={({ currentTarget }) => {
            currentTarget.dataset['loaded'] = 'true'
            during.current = run
            loaded(screen.id, currentTarget, entry.origin)
          }}
          className={cn(
            'absolute inset-0 block size-full border-0 opacity-0 transition-opacity duration-300 data-loaded:opacity-100',
            interactive ? 'pointer-events-auto' : 'pointer-events-none',
          )}
        />
      )}
      {entry !== null && opening.way === 'asleep' && <Asleep onWake={opening.wake} />}
      {entry !== null && <BlockedImages screen={screen} reload={() => reload(screen.id)} />}
      <FrameTrouble screen={screen} sandbox={sandbox} opening={opening} />
    </>
  )
}

const Asleep = ({ onWake }: { onWake: () => void }) => (
  <div
    role="status"
    className="nodrag absolute inset-x-0 top-0 flex items-center gap-3 bg-raised/95 px-5 py-3 text-[15px]"
  >
    <Moon className="size-5 shrink-0 text-amber" aria-hidden />
    <p className="min-w-0 flex-1 text-muted">The sandbox is asleep, so the app is frozen.</p>
    <Button onClick={onWake}>Wake up</Button>
  </div>
)
