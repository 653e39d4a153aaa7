import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react'

/** The one frame that a person can work in, for whoever speaks with the page inside it. */
export interface LiveFrame {
  /** Whose app the frame shows; null while no frame is open. */
  screenId: string | null
  /** The frame once its page has loaded; null before, and while it is loaded anew. */
  frame: HTMLIFrameElement | null
  /** What messages of its page carry as their origin. */
  origin: string | null
  /** Grows with every page that the frame has loaded: a script inside it has to be greeted again. */
  loads: number
  /** Loads the page anew. */
  reload: () => void
  /** Whether clicks and keys go into the page instead of to the canvas. */
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
  /** The frame is gone, or begins to load something else. */
  left: (screenId: string) => void
  /** Which screen is the one to work in; null: none. */
  choose: (screenId: string | null) => void
  /** Another number makes that screen's frame take a new ticket. */
  turns: ReadonlyMap<string, number>
  reload: (screenId: string) => void
  /** Which screens have their page in a frame by now. */
  shown: ReadonlySet<string>
  interactId: string | null
  setInteractId: (screenId: string | null) => void
}

const FrameContext = createContext<LiveFrame | null>(null)
const RegistryContext = createContext<Registry | null>(null)

/** Holds the frames of the canvas; inside it `useLiveFrame` answers. */
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

/** The frame of the screen that is open. */
export function useLiveFrame(): LiveFrame {
  const live = useContext(FrameContext)
  if (live === null) throw new Error('useLiveFrame is called outside of the canvas')
  return live
}

/** For the frames themselves, and for the canvas that chooses among them. */
export function useFrameRegistry(): Registry {
  const registry = useContext(RegistryContext)
  if (registry === null) throw new Error('useFrameRegistry is called outside of the canvas')
  return registry
}
