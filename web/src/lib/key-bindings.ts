import { useEffect, useRef } from 'react'

const editable = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const dialogOpen = (): boolean => document.querySelector('[role="dialog"],[role="menu"],[role="alertdialog"]') !== null

/** The page has a composer or an editor: typed letters are text, even before it has the focus. */
const isForWriting = (): boolean => document.querySelector('[data-for-writing]') !== null

interface KeyOptions {
  /** These bindings take precedence over all others on the page. */
  first?: boolean
  /** They belong to the text box of this page, so they also work while you type. */
  beside?: boolean
}

type Bindings = Record<string, (event: KeyboardEvent) => unknown>

/** "mod+k" works everywhere; single letters only while no text box has the focus, no dialog covers the page, and the
 * page is not for writing. An action that returns false leaves the key to other handlers. */
export function useKeyBindings(bindings: Bindings, { first = false, beside = first }: KeyOptions = {}): void {
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
      if (!mod && !beside && event.key.length === 1 && isForWriting()) return
      if (action(event) !== false) event.preventDefault()
    }
    addEventListener('keydown', press, first)
    return () => removeEventListener('keydown', press, first)
  }, [first, beside])
}

export const MOD = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'
