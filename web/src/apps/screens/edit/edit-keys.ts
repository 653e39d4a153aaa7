import { useEffect, type KeyboardEvent as ReactKeyboardEvent } from 'react'
import type { Editing as EditMode } from '@outlast/sdk/react'

const STEPS = { ArrowUp: 'parent', ArrowDown: 'child', ArrowLeft: 'previous', ArrowRight: 'next' } as const
const isStep = (key: string): key is keyof typeof STEPS => key in STEPS
const somethingOpen = (): boolean => document.querySelector('[role=dialog],[role=menu],[role=listbox]') !== null

/** Keeps key presses in the panel from reaching the canvas. */
export function keepKeys(event: ReactKeyboardEvent): void {
  if (!event.metaKey && !event.ctrlKey && event.key !== 'Tab') event.stopPropagation()
}

/** While elements can be picked, Escape clears the selection, then leaves edit mode. If nothing has the focus, arrow
 * keys move between elements, as they do in the page itself. */
export function useEditKeys({ on, element, session }: EditMode): void {
  const chosen = element !== null
  useEffect(() => {
    if (!on) return
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || somethingOpen()) return
      const free = event.target === document.body || event.target instanceof HTMLIFrameElement
      if (event.key === 'Escape') {
        if (chosen) session.select({ clear: true })
        else session.disable()
      } else if (chosen && free && isStep(event.key)) session.select({ step: STEPS[event.key] })
      else return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    addEventListener('keydown', press, { capture: true })
    return () => removeEventListener('keydown', press, { capture: true })
  }, [on, chosen, session])
}
