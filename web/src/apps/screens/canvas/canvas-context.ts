import { createContext, useContext } from 'react'
import type { Sandbox, ScreenData, ScreenPlace, Theme, ThemeTokens, Thread } from '@outlast/sdk'
import type { SnapshotNews } from '@/features/sandboxes/snapshot-news'

/** Shared facts for every screen of the canvas. None of them changes during a drag. */
export interface CanvasFacts {
  projectId: string
  mayEdit: boolean
  /** Only owners can delete. */
  mayDelete: boolean
  /** True if exactly one screen is selected. */
  alone: boolean
  /** Living sandboxes by workspace. */
  sandboxes: ReadonlyMap<string, Sandbox>
  themes: ReadonlyMap<string, Theme>
  /** Threads by id, for their drivers. */
  threads: ReadonlyMap<string, Thread>
  /** The progress of the snapshots that sandboxes wait for, by template. */
  building: ReadonlyMap<string, SnapshotNews>
  /** The screens that show their app now. */
  liveIds: readonly string[]
  /** The screen whose title is being edited. */
  renamingId: string | null
  /** Other people who have just moved a screen, by screen. */
  movers: ReadonlyMap<string, string>
  /** A theme that is previewed, not chosen. */
  trying: Trying | null
  actions: CanvasActions
}

export interface Trying {
  screenId: string
  tokens: ThemeTokens
}

export interface CanvasActions {
  /** While this user drags or resizes, events from others do not move the screen. */
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
