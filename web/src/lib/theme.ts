import { useEffect, useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'outlast.theme'
const listeners = new Set<() => void>()

function chosen(): Theme {
  const saved = localStorage.getItem(KEY)
  return saved === 'light' || saved === 'dark' ? saved : 'system'
}

function paint(): void {
  const dark = chosen() === 'dark' || (chosen() === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', dark)
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme)
  paint()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosen)

const isDark = (): boolean => document.documentElement.classList.contains('dark')

function watchPaint(listener: () => void): () => void {
  const watcher = new MutationObserver(listener)
  watcher.observe(document.documentElement, { attributeFilter: ['class'] })
  return () => watcher.disconnect()
}

/** True if the page is dark now, by choice or by the system's setting. */
export const useDark = (): boolean => useSyncExternalStore(watchPaint, isDark)

/** Follows the system's setting and the choice made in another tab. */
export function useThemeSync(): void {
  useEffect(() => {
    const life = new AbortController()
    const { signal } = life
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint, { signal })
    addEventListener('storage', () => (paint(), listeners.forEach((listener) => listener())), { signal })
    return () => life.abort()
  }, [])
}
