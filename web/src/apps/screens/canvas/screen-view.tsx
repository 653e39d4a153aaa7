import { memo } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { client } from '@/lib/queries'
import { useCanvas } from './canvas-context'
import { FrameView } from './frame-view'
import { ScreenPlaceholder, tokensOf } from './screen-placeholder'
import { useFrameRegistry } from './live-frame'

interface ViewProps {
  screen: ScreenData
  live: boolean
  interactive: boolean
}

/** The content of a frame: the app if it is live, else its last picture, else an outline in its theme. */
export const ScreenView = memo(function ScreenView({ screen, live, interactive }: ViewProps) {
  const { themes, trying } = useCanvas()
  const { id, picture_id, title, state, width } = screen
  const drawn = trying?.screenId === id ? { theme: 'custom', theme_tokens: trying.tokens } : screen
  return (
    <>
      {picture_id === null ? (
        <ScreenPlaceholder tokens={tokensOf(drawn, themes)} unit={Math.max(9, width / 72)} calm={state === 'new'} />
      ) : (
        <img
          src={client.attachmentUrl(picture_id)}
          alt={`Last screenshot of ${title}`}
          draggable={false}
          decoding="async"
          className="pointer-events-none absolute inset-0 size-full object-cover object-top select-none"
        />
      )}
      {state === 'new' && !live && <Hint width={width} />}
      {live && <FrameView screen={screen} interactive={interactive} />}
      <Progress screen={screen} live={live} />
    </>
  )
})

const Hint = ({ width }: { width: number }) => (
  // Unreadably small text is hidden.
  <div
    className="pointer-events-none absolute inset-0 grid place-items-center"
    style={{ opacity: 'clamp(0, (var(--zoom, 1) - 0.3) * 12, 1)' }}
  >
    <p
      className="max-w-[80%] rounded-full bg-black/55 px-[1.4em] py-[0.6em] text-center font-medium text-white/95"
      style={{ fontSize: Math.max(13, Math.min(24, width / 42)) }}
    >
      Nothing here yet. Describe in the chat what to build.
    </p>
  </div>
)

/** A progress line along the upper edge while the user waits for this screen. */
function Progress({ screen, live }: { screen: ScreenData; live: boolean }) {
  const { shown } = useFrameRegistry()
  const opening = live && !shown.has(screen.id) && screen.trouble === null
  if (screen.state !== 'working' && !opening) return null
  return (
    <div role="progressbar" aria-label="Working" className="absolute inset-x-0 top-0 h-1 overflow-hidden bg-accent/15">
      <div className="screen-progress h-full w-1/3 rounded-full bg-accent" />
    </div>
  )
}
