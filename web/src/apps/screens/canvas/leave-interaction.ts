import { useEffect, type RefObject } from 'react'
import { useFrameRegistry } from './live-frame'

/** A press elsewhere on the canvas ends the interaction with a frame; presses inside the frame are not reported
 * here. */
export function useLeaveInteraction(
  root: RefObject<HTMLElement | null>,
  interact: (screenId: string | null) => void,
): void {
  const { interactId } = useFrameRegistry()
  useEffect(() => {
    const canvas = root.current
    if (interactId === null || canvas === null) return
    const press = (event: PointerEvent) => {
      const target = event.target as Element
      const inside = target.closest('[data-interactive] iframe, .react-flow__node-toolbar, [role=toolbar]') !== null
      if (!inside) interact(null)
    }
    canvas.addEventListener('pointerdown', press, { capture: true })
    return () => canvas.removeEventListener('pointerdown', press, { capture: true })
  }, [root, interactId, interact])
}
