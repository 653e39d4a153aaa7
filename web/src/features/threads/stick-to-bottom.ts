import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

const NEAR_PX = 48
const OLDER_PX = 400

/** Keeps a growing list scrolled to its end while the reader is there, leaves it unchanged if the reader has scrolled
 * up, and keeps the visible content in place when older messages are added at the top. */
export function useStickToBottom(onNearTop: () => void) {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const stick = useRef(true)
  const [atBottom, setAtBottom] = useState(true)
  const nearTop = useRef(onNearTop)
  useEffect(() => {
    nearTop.current = onNearTop
  })

  // In the next frame: reading the height during rendering would cause an extra layout.
  const toBottom = useCallback((behavior: ScrollBehavior = 'instant') => {
    stick.current = true
    requestAnimationFrame(() => box.current?.scrollTo({ top: box.current.scrollHeight, behavior }))
  }, [])

  useLayoutEffect(() => {
    const area = box.current
    const inner = content.current
    if (area === null || inner === null) return
    let anchor: { row: Element; top: number } | null = null
    const mark = () => {
      const edge = area.getBoundingClientRect().top
      const rows = [...inner.children].filter((child) => !child.hasAttribute('data-older'))
      const row = rows.find((child) => child.getBoundingClientRect().bottom > edge + 1)
      anchor = row === undefined ? null : { row, top: row.getBoundingClientRect().top }
    }
    const grown = new ResizeObserver(() => {
      if (stick.current) area.scrollTop = area.scrollHeight
      else if (anchor !== null && anchor.row.isConnected)
        area.scrollTop += anchor.row.getBoundingClientRect().top - anchor.top
      mark()
    })
    let lastTop = 0
    const scrolled = () => {
      const fromEnd = area.scrollHeight - area.scrollTop - area.clientHeight
      // A large distance to the end can also mean that the list has grown: only a reader who scrolls up wants to stay
      // there.
      if (fromEnd < NEAR_PX) stick.current = true
      else if (area.scrollTop < lastTop) stick.current = false
      lastTop = area.scrollTop
      setAtBottom(fromEnd < NEAR_PX * 3)
      mark()
      if (area.scrollTop < OLDER_PX && !stick.current) nearTop.current()
    }
    grown.observe(inner)
    grown.observe(area)
    area.addEventListener('scroll', scrolled, { passive: true })
    return () => {
      grown.disconnect()
      area.removeEventListener('scroll', scrolled)
    }
  }, [])
  return { box, content, atBottom, toBottom }
}
