import { createContext, useContext } from 'react'
import type { Sandbox, ScreenData, ScreenPlace, Theme, ThemeTokens, Thread } from '@outlast/sdk'
import type { SnapshotNews } from '@/features/sandboxes/snapshot-news'

/** What every screen of the canvas knows. None of it changes while something is dragged. */
export interface CanvasFacts {
  projectId: string
  mayEdit: boolean
  /** Deleting is for owners. */
  mayDelete: boolean
  /** Whether exactly one screen is selected. */
  alone: boolean
  /** Living sandboxes by workspace. */
  sandboxes: ReadonlyMap<string, Sandbox>
  themes: ReadonlyMap<string, Theme>
  /** Threads by id, for who drives which. */
  threads: ReadonlyMap<string, Thread>
  /** How far the snapshots are that sandboxes wait for, by template. */
  building: ReadonlyMap<string, SnapshotNews>
  /** Which screens show their app now. */
  liveIds: readonly string[]
  /** Which screen's title is being written. */
  renamingId: string | null
  /** Who has just moved what, by screen. */
  movers: ReadonlyMap<string, string>
  /** A theme that is looked at, not chosen. */
  trying: Trying | null
  actions: CanvasActions
}

export interface Trying {
  screenId: string
  tokens: ThemeTokens
}

export interface CanvasActions {
  /** While somebody drags or resizes here, news of others does not move the screen. */
  hold: (ids: readonly string[]) => void
  release: (ids: readonly string[]) => void
  place: (places: ReadonlyMap<string, Partial<ScreenPlace>>) => void
  rename: (screen: ScreenData, title: string) => void
  setRenaming: (screenId: string | null) => void
  duplicate: (screens: readonly ScreenData[]) => void
  askDelete: (screens: readonly ScreenData[]) => void
  setTheme: (screen: ScreenData, theme: string, tokens?: ThemeTokens) => void
  tryTheme: (trying: Trying | null) => void
  askAgent: (screen: ScreenData, text: string) => void
  interact: (screenId: string | null) => void
}

export const CanvasContext = createContext<CanvasFacts | null>(null)

export function useCanvas(): CanvasFacts {
  const facts = useContext(CanvasContext)
  if (facts === null) throw new Error('useCanvas is called outside of the canvas')
  return facts
}
