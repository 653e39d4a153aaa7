import { memo, useEffect, useRef, useState } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { Tip } from '@/components/tooltip'
import { useMe } from '@/features/session/session-gate'
import { Avatar } from '@/features/shell/avatar'
import { useCanvas } from './canvas-context'
import { useLiveStatus } from './live-status'
import { themeName, tokensOf } from './screen-placeholder'
import { useScreenLook } from './use-screen-look'
import { StateBadge } from './screen-state-badge'

interface TitleProps {
  screen: ScreenData
  selected: boolean
  live: boolean
}

/** Above a frame, at the same size for every zoom: name, state, driver and theme. */
export const ScreenTitle = memo(function ScreenTitle({ screen, selected, live }: TitleProps) {
  const { renamingId, mayEdit, movers, actions } = useCanvas()
  const mover = movers.get(screen.id)
  return (
    <div className="screen-title absolute bottom-full left-0 h-6 origin-bottom-left">
      <div
        className="screen-title-row @container flex h-full items-center gap-2 pb-1"
        style={{ width: `calc(${screen.width}px / var(--title-scale))` }}
      >
        {renamingId === screen.id ? (
          <TitleBox screen={screen} />
        ) : (
          <span
            className={`min-w-0 truncate text-[13px] ${selected ? 'font-medium text-link' : 'text-muted'}`}
            title={screen.title}
            onDoubleClick={(event) => {
              if (!mayEdit) return
              event.stopPropagation()
              actions.setRenaming(screen.id)
            }}
          >
            {screen.title}
          </span>
        )}
        {selected && live && screen.state === 'working' ? (
          <FollowedState screen={screen} live={live} />
        ) : (
          <State screen={screen} live={live} words="" />
        )}
        <span className="flex-1" />
        {mover !== undefined && (
          <span
            role="status"
            data-mover
            className="shrink-0 rounded-full bg-accent px-2 py-0.5 text-[11px] font-medium text-accent-fg animate-in"
          >
            {mover}
          </span>
        )}
        <Driver screen={screen} />
        <ThemeDot screen={screen} />
      </div>
    </div>
  )
})

function FollowedState({ screen, live }: { screen: ScreenData; live: boolean }) {
  return <State screen={screen} live={live} words={useLiveStatus(screen.thread_id)} />
}

function State({ screen, live, words }: { screen: ScreenData; live: boolean; words: string }) {
  const look = useScreenLook(screen, live, words)
  return <StateBadge look={look} labelClassName="@max-[9rem]:sr-only" />
}

/** The driver of the screen's conversation, if it is another user. */
function Driver({ screen }: { screen: ScreenData }) {
  const me = useMe()
  const lock = useCanvas().threads.get(screen.thread_id)?.lock ?? null
  if (lock === null || lock.holder_id === me.user.id || Date.parse(lock.expires_at) < Date.now()) return null
  return (
    <Tip label={`${lock.holder_name} drives this screen`}>
      <span role="img" aria-label={`${lock.holder_name} drives this screen`} data-driver className="flex shrink-0">
        <Avatar id={lock.holder_id} name={lock.holder_name} className="size-5 text-[9px]" />
      </span>
    </Tip>
  )
}

function ThemeDot({ screen }: { screen: ScreenData }) {
  const { themes } = useCanvas()
  const tokens: Record<string, string> = tokensOf(screen, themes)
  const name = themeName(screen, themes)
  return (
    <Tip label={`Theme: ${name}`}>
      <span
        role="img"
        aria-label={`Theme: ${name}`}
        data-theme-chip={screen.theme}
        className="flex size-4 shrink-0 overflow-hidden rounded-full border border-line-strong"
      >
        <span className="flex-1" style={{ background: tokens['background'] }} />
        <span className="flex-1" style={{ background: tokens['primary'] }} />
      </span>
    </Tip>
  )
}

function TitleBox({ screen }: { screen: ScreenData }) {
  const { actions } = useCanvas()
  const [text, setText] = useState(screen.title)
  const box = useRef<HTMLInputElement>(null)
  const done = useRef(false)
  useEffect(() => box.current?.select(), [])
  const finish = (title: string) => {
    if (done.current) return
    done.current = true
    actions.rename(screen, title)
  }
  return (
    <input
      ref={box}
      autoFocus
      aria-label="Title of the screen"
      maxLength={200}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => finish(text)}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Enter') finish(text)
        if (event.key === 'Escape') finish(screen.title)
      }}
      className="nodrag nopan h-6 w-full max-w-72 min-w-24 rounded-md border border-accent bg-raised px-1.5 text-[13px] outline-none"
    />
  )
}
