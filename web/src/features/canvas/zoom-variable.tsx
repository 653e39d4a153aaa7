import { useStoreApi } from '@xyflow/react'
import { useEffect, type RefObject } from 'react'

const REST_MS = 140

/**
 * Tells the style sheet how far the canvas is zoomed, without React. While the view moves only the titles hear of it,
 * which are layers of their own then; lines and handles follow when it rests, since they are painted anew.
 */
export function ZoomVariable({ of }: { of: RefObject<HTMLElement | null> }) {
  const store = useStoreApi()
  useEffect(() => {
    let last: readonly number[] = []
    let resting: ReturnType<typeof setTimeout> | undefined
    const rest = () => {
      const root = of.current
      if (root === null) return
      delete root.dataset['moving']
      root.style.setProperty('--zoom', String(store.getState().transform[2]))
      for (const title of titlesIn(root)) title.style.removeProperty('--zoom')
    }
    const move = () => {
      const { transform } = store.getState()
      const root = of.current
      if (transform === last || root === null) return
      const zoomed = transform[2] !== last[2]
      const first = last.length === 0
      last = transform
      if (first) return rest()
      root.dataset['moving'] = ''
      if (zoomed) for (const title of titlesIn(root)) title.style.setProperty('--zoom', String(transform[2]))
      clearTimeout(resting)
      resting = setTimeout(rest, REST_MS)
    }
    move()
    const stop = store.subscribe(move)
    return () => (clearTimeout(resting), stop())
  }, [store, of])
  return null
}

const titlesIn = (root: HTMLElement) => root.querySelectorAll<HTMLElement>('.screen-title')
