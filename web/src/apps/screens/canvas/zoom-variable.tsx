import { useStoreApi } from '@xyflow/react'
import { useEffect, type RefObject } from 'react'

const REST_MS = 110

/** Exposes the zoom of the canvas to CSS, without React, and only when the view rests: elements of constant size
 * (titles, lines, handles) have to be repainted for it. Titles are hidden while it changes. */
export function ZoomVariable({ of }: { of: RefObject<HTMLElement | null> }) {
  const store = useStoreApi()
  useEffect(() => {
    let last: readonly number[] = []
    let resting: ReturnType<typeof setTimeout> | undefined
    const rest = () => {
      const root = of.current
      if (root === null) return
      delete root.dataset['moving']
      delete root.dataset['zooming']
      root.style.setProperty('--zoom', String(store.getState().transform[2]))
    }
    const move = () => {
      const { transform } = store.getState()
      const root = of.current
      if (transform === last || root === null) return
      const [first, zoomed] = [last.length === 0, transform[2] !== last[2]]
      last = transform
      if (first) return rest()
      if (root.dataset['moving'] === undefined) root.dataset['moving'] = ''
      if (zoomed && root.dataset['zooming'] === undefined) root.dataset['zooming'] = ''
      clearTimeout(resting)
      resting = setTimeout(rest, REST_MS)
    }
    move()
    const stop = store.subscribe(move)
    return () => (clearTimeout(resting), stop())
  }, [store, of])
  return null
}
