import { MousePointerClick, MousePointerSquareDashed, RefreshCw } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { twMerge } from 'tailwind-merge'
import type { EditSession, ScreenData } from '@outlast/sdk'
import { useEditSession } from '@outlast/sdk/react'
import { Button } from '@/components/button'
import { Kbd } from '@/components/kbd'
import { Problem } from '@/components/problem'
import { Empty } from '@/components/placeholders'
import { useCanvas } from '../canvas/canvas-context'
import { useLiveFrame, type LiveFrame } from '../canvas/live-frame'
import { useMe } from '@/features/session/session-gate'
import { lockState } from '@/features/threads/lock-state'
import { AppearanceSection } from './appearance-section'
import { ClassesSection } from './classes-section'
import { EditContext, useEditing, usePending } from './edit-context'
import { keepKeys, useEditKeys } from './edit-keys'
import { ElementHeader } from './element-header'
import { ImageSection } from './image-section'
import { LayoutSection } from './layout-section'
import { AgentAtWork, LockedBy, PageTrouble, ViewersLook } from './banners'
import { PendingBar } from './pending-bar'
import { ElementRefusal } from './element-refusal'
import { TextSection } from './text-section'
import { TypographySection } from './typography-section'

/** Edit the look of the screen by hand: pick an element in the frame, then change its colours, spacing, text or
 * image. */
export function EditTab({ screen }: { screen: ScreenData }) {
  const live = useLiveFrame()
  const { mayEdit, threads } = useCanvas()
  const me = useMe()
  const mine = live.screenId === screen.id
  const edit = useEditSession({
    screenId: screen.id,
    frame: mine ? live.frame : null,
    origin: mine ? live.origin : null,
    merge: twMerge,
  })
  const pending = usePending(edit)
  const editing = useMemo(() => ({ screen, edit, pending }), [screen, edit, pending])
  const { on, session } = edit
  useEditKeys(edit)
  useInteraction(on, mine && live.frame !== null, live, session)
  const lock = threads.get(screen.thread_id)?.lock ?? null
  const locked = lockState(lock, me.user.id, lock !== null && Date.parse(lock.expires_at) < Date.now()) === 'theirs'
  const runId = screen.active_run_id
  return (
    <EditContext value={editing}>
      <div data-screen-edit={screen.id} className="flex min-h-0 flex-1 flex-col" onKeyDown={keepKeys}>
        {!mayEdit && <ViewersLook />}
        {runId !== null && <AgentAtWork screen={screen} runId={runId} />}
        {runId === null && locked && lock !== null && <LockedBy lock={lock} />}
        <PageTrouble />
        <div className="min-h-0 flex-1 overflow-y-auto">
          {mine && live.frame !== null ? mayEdit && <Panel onReload={live.reload} /> : <NotOpen />}
        </div>
        {mayEdit && <PendingBar blocked={runId !== null || locked} />}
      </div>
    </EditContext>
  )
}

/** In edit mode clicks go to the page; leaving the page (Done, or a click outside it) leaves edit mode. */
function useInteraction(on: boolean, open: boolean, live: LiveFrame, session: EditSession): void {
  const { interact, setInteract } = live
  const held = useRef(false)
  useEffect(() => () => session.disable(), [session])
  useEffect(() => {
    if (on && open && !held.current) {
      held.current = true
      setInteract(true)
    } else if (!on && held.current) {
      held.current = false
      setInteract(false)
    }
  }, [on, open, setInteract])
  const before = useRef(interact)
  useEffect(() => {
    if (before.current && !interact && held.current) session.disable()
    before.current = interact
  }, [interact, session])
}

function Panel({ onReload }: { onReload: () => void }) {
  const { edit } = useEditing()
  const silent = useSilence(edit.ready)
  if (!edit.on) return <Begin />
  if (!edit.ready && silent)
    return (
      <Empty
        icon={<RefreshCw />}
        title="The page does not respond"
        className="pt-[12vh]"
        action={<Button onClick={onReload}>Reload</Button>}
      >
        It may still be starting, or the Outlast script was removed from the app.
      </Empty>
    )
  return edit.element === null ? <Pick /> : <Chosen />
}

function Begin() {
  const { screen, edit } = useEditing()
  return (
    <Empty
      icon={<MousePointerSquareDashed />}
      title="Edit by hand"
      className="pt-[12vh]"
      action={
        <Button look="primary" onClick={() => edit.session.enable()}>
          <MousePointerClick />
          Choose an element
        </Button>
      }
    >
      Pick any element of {screen.title} and change its colours, spacing, typography, text or image. You see changes
      immediately; nothing is written until you save.
    </Empty>
  )
}

function Pick() {
  const { edit } = useEditing()
  return (
    <Empty
      icon={<MousePointerClick />}
      title="Click an element in the frame"
      className="pt-[12vh]"
      action={
        <Button size="sm" look="ghost" onClick={() => edit.session.disable()}>
          Stop editing
        </Button>
      }
    >
      Then <Kbd>↑</Kbd> <Kbd>↓</Kbd> to select its parent or child, <Kbd>←</Kbd> <Kbd>→</Kbd> for its siblings.
    </Empty>
  )
}

function Chosen() {
  const { edit } = useEditing()
  const { source, sourceError } = edit
  const refusal = source?.refusal ?? source?.classes?.refusal ?? null
  return (
    <>
      <ElementHeader />
      {sourceError !== null && <Problem className="m-4" error={sourceError} />}
      {sourceError === null && (
        <>
          <TextSection />
          <ImageSection />
          {refusal !== null && (
            <div className="border-b border-line p-4">
              <ElementRefusal refusal={refusal}>
                {source?.refusal === null && 'Try your changes below, then ask the agent to make them.'}
              </ElementRefusal>
            </div>
          )}
          {(source === null || source.refusal === null) && (
            <>
              <AppearanceSection />
              <LayoutSection />
              <TypographySection />
              {refusal === null && <ClassesSection />}
            </>
          )}
        </>
      )}
    </>
  )
}

const PATIENCE_MS = 6_000

/** True if something has been missing for longer than expected. */
function useSilence(there: boolean): boolean {
  const [silent, setSilent] = useState(false)
  useEffect(() => {
    setSilent(false)
    if (there) return undefined
    const timer = setTimeout(() => setSilent(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [there])
  return silent
}

const NotOpen = () => (
  <Empty icon={<MousePointerSquareDashed />} title="The app is not open yet" className="pt-[12vh]">
    {matchMedia('(max-width: 767px)').matches
      ? 'To pick elements in the app next to this panel, use a wider window.'
      : 'When it runs in the frame, you can pick an element and change how it looks.'}
  </Empty>
)
