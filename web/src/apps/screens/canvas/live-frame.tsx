import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react'

/** The frame that the user can work in, for components that exchange messages with its page. */
export interface LiveFrame {
  /** The screen whose app the frame shows; null while no frame is open. */
  screenId: string | null
  /** The frame once its page has loaded; null before that and during a reload. */
  frame: HTMLIFrameElement | null
  /** The origin of its page's messages. */
  origin: string | null
  /** Increases with every page that the frame has loaded: a script in it needs a new handshake. */
  loads: number
  /** Reloads the page. */
  reload: () => void
  /** True if clicks and keys go to the page instead of the canvas. */
  interact: boolean
  setInteract: (on: boolean) => void
}

interface Shown {
  screenId: string
  frame: HTMLIFrameElement
  origin: string
  loads: number
}

interface Registry {
  /** A frame's page has loaded. */
  loaded: (screenId: string, frame: HTMLIFrameElement, origin: string) => void
  /** The frame was removed, or starts to load another page. */
  left: (screenId: string) => void
  /** Chooses the screen to work in; null: none. */
  choose: (screenId: string | null) => void
  /** A new number makes that screen's frame request a new ticket. */
  turns: ReadonlyMap<string, number>
  reload: (screenId: string) => void
  /** The screens whose page is loaded in a frame. */
  shown: ReadonlySet<string>
  interactId: string | null
  setInteractId: (screenId: string | null) => void
}

const FrameContext = createContext<LiveFrame | null>(null)
const RegistryContext = createContext<Registry | null>(null)

/** Holds the frames of the canvas and provides them to `useLiveFrame`. */
export function LiveFrameProvider({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<ReadonlyMap<string, Shown>>(new Map())
  const [chosen, choose] = useState<string | null>(null)
  const [turns, setTurns] = useState<ReadonlyMap<string, number>>(new Map())
  const [interactId, setInteractId] = useState<string | null>(null)
  const loaded = useCallback((screenId: string, frame: HTMLIFrameElement, origin: string) => {
    setShown((all) =>
      new Map(all).set(screenId, { screenId, frame, origin, loads: (all.get(screenId)?.loads ?? 0) + 1 }),
    )
  }, [])
  const left = useCallback((screenId: string) => {
    setShown((all) => {
      if (!all.has(screenId)) return all
      const rest = new Map(all)
      rest.delete(screenId)
      return rest
    })
  }, [])
  const reload = useCallback((screenId: string) => {
    setTurns((all) => new Map(all).set(screenId, (all.get(screenId) ?? 0) + 1))
  }, [])
  const registry = useMemo(
    () => ({ loaded, left, choose, turns, reload, interactId, setInteractId, shown: new Set(shown.keys()) }),
    [loaded, left, turns, reload, interactId, shown],
  )
  const one = chosen === null ? undefined : shown.get(chosen)
  const live = useMemo<LiveFrame>(
    () => ({
      screenId: chosen,
      frame: one?.frame ?? null,
      origin: one?.origin ?? null,
      loads: one?.loads ?? 0,
      reload: () => chosen !== null && reload(chosen),
      interact: chosen !== null && interactId === chosen,
      setInteract: (on) => setInteractId(on ? chosen : null),
    }),
    [chosen, one, reload, interactId],
  )
  return (
    <RegistryContext value={registry}>
      <FrameContext value={live}>{children}</FrameContext>
    </RegistryContext>
  )
}

/** The frame of the open screen. */
export function useLiveFrame(): LiveFrame {
  const live = useContext(FrameContext)
  if (live === null) throw new Error('useLiveFrame is called outside of the canvas')
  return live
}

/** For the frames, and for the canvas that chooses one of them. */
export function useFrameRegistry(): Registry {
  const registry = useContext(RegistryContext)
  if (registry === null) throw new Error('useFrameRegistry is called outside of the canvas')
  return registry
}
