import { useEffect, type RefObject } from 'react'
import { useFrameRegistry } from './live-frame'

/** A press anywhere else on the canvas leaves the frame that is used; what is inside the frame is not heard here. */
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
