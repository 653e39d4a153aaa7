import { useEffect, useRef, type ReactNode } from 'react'
import { useNearViewport } from '../use-near-viewport'
import type { RailItem } from './rail'

/** For this long, content that loads may still move a chosen card. */
const SETTLES_MS = 1200
const FIRST = 8

/** Cards in one column, for a phone; scrolled to the chosen one. */
export function CardList({ items, chosen }: { items: readonly RailItem[]; chosen: string | null }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const list = box.current
    if (list === null || chosen === null) return
    const show = () =>
      list.querySelector(`[data-comment-card="${CSS.escape(chosen)}"]`)?.scrollIntoView({ block: 'start' })
    const sizes = new ResizeObserver(show)
    for (const card of list.children) sizes.observe(card)
    const life = new AbortController()
    const stop = () => (sizes.disconnect(), life.abort())
    // A reader who scrolls has chosen another place.
    for (const name of ['pointerdown', 'wheel', 'touchstart', 'keydown'])
      list.addEventListener(name, stop, { signal: life.signal, passive: true })
    const timer = setTimeout(stop, SETTLES_MS)
    return () => (clearTimeout(timer), stop())
  }, [chosen])
  return (
    <div ref={box} data-rail className="min-h-0 flex-1 space-y-2.5 overflow-y-auto p-3">
      {items.map(({ id, card }, at) => (
        <Slot key={id} card={card} drawn={at < FIRST || id === chosen} />
      ))}
    </div>
  )
}

/** Rendered when it comes near the viewport. */
function Slot({ card, drawn }: { card: ReactNode; drawn: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const near = useNearViewport(box, drawn)
  return <div ref={box}>{near || drawn ? card : <div className="h-32" />}</div>
}
