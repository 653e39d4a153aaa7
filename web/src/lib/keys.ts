import { useEffect, useRef } from 'react'

const editable = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const dialogOpen = (): boolean => document.querySelector('[role="dialog"],[role="menu"],[role="alertdialog"]') !== null

/** "mod+k" works everywhere; single letters only while nobody writes and nothing lies on top of the page. With `first` these
 * keys mean this, whatever else on the page they would mean; an action that answers false leaves the key to others. */
export function useKeys(bindings: Record<string, (event: KeyboardEvent) => unknown>, { first = false } = {}): void {
  const current = useRef(bindings)
  useEffect(() => {
    current.current = bindings
  })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const mod = event.metaKey || event.ctrlKey
      const name = mod ? `mod+${event.key.toLowerCase()}` : event.key
      const action = current.current[name]
      if (action === undefined || event.altKey || event.defaultPrevented) return
      if (!mod && (editable(event.target) || dialogOpen())) return
      if (action(event) !== false) event.preventDefault()
    }
    addEventListener('keydown', press, first)
    return () => removeEventListener('keydown', press, first)
  }, [first])
}

export const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'
