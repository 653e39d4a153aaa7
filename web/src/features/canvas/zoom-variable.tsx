import { useStoreApi } from '@xyflow/react'
import { useEffect, type RefObject } from 'react'

/** Tells the style sheet how far the canvas is zoomed, without drawing anything anew. */
export function ZoomVariable({ of }: { of: RefObject<HTMLElement | null> }) {
  const store = useStoreApi()
  useEffect(() => {
    let last = 0
    const tell = () => {
      const zoom = store.getState().transform[2]
      if (zoom === last) return
      last = zoom
      of.current?.style.setProperty('--zoom', String(zoom))
    }
    tell()
    return store.subscribe(tell)
  }, [store, of])
  return null
}
