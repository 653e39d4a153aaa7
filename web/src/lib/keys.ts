import { useEffect, useRef } from 'react'

const editable = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const dialogOpen = (): boolean => document.querySelector('[role="dialog"],[role="menu"],[role="alertdialog"]') !== null

/** A composer or an editor has this page: what is typed there is meant as words, also before it has the focus. */
const isForWriting = (): boolean => document.querySelector('[data-for-writing]') !== null

interface KeyOptions {
  /** These keys mean this, whatever else on the page they would mean. */
  first?: boolean
  /** They belong to what is written in on this page, so they work beside it. */
  beside?: boolean
}

type Bindings = Record<string, (event: KeyboardEvent) => unknown>

/** "mod+k" works everywhere; single letters only while nobody writes, nothing lies on top of the page, and the page is not
 * for writing. An action that answers false leaves the key to others. */
export function useKeys(bindings: Bindings, { first = false, beside = first }: KeyOptions = {}): void {
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
