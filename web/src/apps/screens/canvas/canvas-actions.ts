import { useMemo, useRef } from 'react'
import type { ScreenData, ScreenPlace, ThemeTokens } from '@outlast/sdk'
import { complain, say } from '@/components/toast'
import { plural } from '@/lib/format'
import { client, queryClient } from '@/lib/queries'
import type { CanvasActions } from './canvas-context'
import { freePlace, GAP, type Point } from './placement'
import { dropScreen, patchScreens, putScreen, screensQuery } from './screens'

interface Needs {
  projectId: string
  hold: (ids: readonly string[]) => void
  release: (ids: readonly string[]) => void
  select: (ids: readonly string[]) => void
  setRenaming: (screenId: string | null) => void
  askDelete: (screens: readonly ScreenData[]) => void
  interact: (screenId: string | null) => void
  tryTheme: CanvasActions['tryTheme']
  openChat: () => void
}

/** Actions on screens: shown at once, undone if the server refuses. */
export function useCanvasActions(needs: Needs): CanvasActions {
  const latest = useRef(needs)
  latest.current = needs
  const { projectId } = needs
  return useMemo<CanvasActions>(() => {
    const change = (screen: ScreenData, part: Partial<ScreenData>, send: () => Promise<ScreenData>) => {
      const undo = patchScreens(projectId, new Map([[screen.id, part]]))
      send().then(putScreen, (reason: Error) => (undo(), complain(reason)))
    }
    return {
      hold: (ids) => latest.current.hold(ids),
      release: (ids) => latest.current.release(ids),
      place: (places) => void place(projectId, places, latest.current),
      rename: (screen, title) => {
        latest.current.setRenaming(null)
        const trimmed = title.trim()
        if (trimmed === '' || trimmed === screen.title) return
        change(screen, { title: trimmed }, () => client.screens.change(screen.id, { title: trimmed }))
      },
      setRenaming: (screenId) => latest.current.setRenaming(screenId),
      duplicate: (screens) => void duplicate(screens, latest.current),
      askDelete: (screens) => latest.current.askDelete(screens),
      setTheme: (screen, theme, tokens?: ThemeTokens) => {
        const body = { theme, ...(tokens !== undefined && { theme_tokens: tokens }) }
        const shown = { theme, theme_tokens: tokens ?? (theme === 'custom' ? screen.theme_tokens : null) }
        change(screen, shown, () => client.screens.change(screen.id, body))
      },
      tryTheme: (trying) => latest.current.tryTheme(trying),
      askAgent: (screen, text) => {
        latest.current.openChat()
        client.startRun(screen.thread_id, { content: text }, crypto.randomUUID()).catch(complain)
      },
      interact: (screenId) => latest.current.interact(screenId),
    }
  }, [projectId])
}

/** One request for all; events from others do not move them until it is answered. */
async function place(
  projectId: string,
  places: ReadonlyMap<string, Partial<ScreenPlace>>,
  { hold, release }: Pick<Needs, 'hold' | 'release'>,
): Promise<void> {
  const all = queryClient.getQueryData<ScreenData[]>(screensQuery(projectId).queryKey) ?? []
  const items = all.flatMap((screen) => moveOf(screen, places.get(screen.id)))
  if (items.length === 0) return
  const ids = items.map(({ id }) => id)
  const undo = patchScreens(projectId, new Map(items.map(({ id, ...rest }) => [id, rest])))
  hold(ids)
  try {
    const { items: saved } = await client.screens.move(projectId, items)
    saved.forEach(putScreen)
  } catch (reason) {
    undo()
    complain(reason as Error)
  } finally {
    release(ids)
  }
}

function moveOf(screen: ScreenData, part: Partial<ScreenPlace> | undefined): (ScreenPlace & { id: string })[] {
  if (part === undefined) return []
  const { id, x, y, width, height } = { ...screen, ...part }
  const moved = x !== screen.x || y !== screen.y || width !== screen.width || height !== screen.height
  return moved ? [{ id, x, y, width, height }] : []
}

/** Next to a screen, or as near as there is room. */
function beside({ project_id, x, y, width, height }: ScreenData): Point {
  const all = queryClient.getQueryData<ScreenData[]>(screensQuery(project_id).queryKey) ?? []
  const place = freePlace({ width, height }, { x: x + GAP + width * 1.5, y: y + height / 2 }, all)
  return { x: place.x, y: place.y }
}

async function duplicate(screens: readonly ScreenData[], { select }: Pick<Needs, 'select'>): Promise<void> {
  const right = Math.max(...screens.map(({ x, width }) => x + width))
  const left = Math.min(...screens.map(({ x }) => x))
  const copies: string[] = []
  try {
    for (const screen of screens) {
      const place = screens.length === 1 ? beside(screen) : { x: screen.x + right - left + GAP, y: screen.y }
      const copy = await client.screens.duplicate(screen.id, place)
      putScreen(copy)
      copies.push(copy.id)
    }
    say(screens.length === 1 ? 'Duplicated, with its files and conversation' : `${screens.length} screens duplicated`)
  } catch (reason) {
    complain(reason as Error)
  }
  if (copies.length > 0) select(copies)
}

/** Deletes screens; those that the server refuses to delete come back. */
export async function deleteScreens(projectId: string, screens: readonly ScreenData[]): Promise<void> {
  for (const { id } of screens) dropScreen(projectId, id)
  const results = await Promise.allSettled(screens.map(({ id }) => client.screens.delete(id)))
  const refused = results.find((one) => one.status === 'rejected')
  if (refused === undefined) return say(`${plural(screens.length, 'screen')} deleted`)
  complain(refused.reason as Error)
  void queryClient.invalidateQueries({ queryKey: screensQuery(projectId).queryKey })
}
