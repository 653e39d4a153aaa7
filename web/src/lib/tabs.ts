import type { KeyboardEvent } from 'react'

/** Arrow keys move from tab to tab, wrapping around, as in every tab list. */
export function stepTabs(event: KeyboardEvent<HTMLElement>): void {
  const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
  if (by === 0) return
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')]
  const next = tabs[(tabs.indexOf(document.activeElement as HTMLElement) + by + tabs.length) % tabs.length]
  next?.focus()
  next?.click()
}
