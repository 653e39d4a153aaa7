import type { ScreenData } from '@outlast/sdk'
import { useCanvas } from './canvas-context'
import { useFrameRegistry } from './live-frame'
import { lookOfScreen, type Look } from './screen-state-text'

/** A screen's state for display; `live`: its app is shown, or about to be. */
export function useScreenLook(screen: ScreenData, live: boolean, words = ''): Look {
  const { sandboxes, building } = useCanvas()
  const { shown } = useFrameRegistry()
  return lookOfScreen(screen, {
    sandbox: sandboxes.get(screen.workspace_id),
    building: building.get(screen.template),
    opening: live && !shown.has(screen.id),
    words,
  })
}
