import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { placeCards, type RailCard } from './rail-layout'
import type { Place } from './comment-threads'

export interface RailItem {
  id: string
  about: Place & { orphaned?: boolean }
  card: ReactNode
}

interface RailProps {
  items: readonly RailItem[]
  chosen: string | null
  /** A click next to the cards, or Escape: no card is chosen any more. */
  onLeave: () => void
}

const GAP_PX = 10
const EDGE_PX = 12
/** The assumed height of a card that was never rendered. */
const USUAL_PX = 130
/** The number of cards rendered before any positions are known. */
const FIRST = 8
const STEP_PX = 500
const AROUND_PX = 1000
const bodyOf = () => document.querySelector<HTMLElement>('[data-document-body]')

type Shown = Pick<RailProps, 'items' | 'chosen'>

interface Placed {
  tops: Map<string, number>
  height: number
}

/** Cards next to the text they are about, scrolling with it. */
export function Rail({ items, chosen, onLeave }: RailProps) {
  const box = useRef<HTMLDivElement>(null)
  const cards = useRef(new Map<string, HTMLElement>())
  const heights = useRef(new Map<string, number>())
  const [placed, setPlaced] = useState<Placed>({ tops: new Map(), height: 0 })
  const latest = useRef<Shown>({ items, chosen })
  useLayoutEffect(() => {
    latest.current = { items, chosen }
  })
  const place = useCallback(() => {
    const [rail, body] = [box.current, bodyOf()]
    if (rail !== null && body !== null)
      setPlaced((before) => measured(rail, body, cards.current, latest.current, before))
  }, [])
  useLayoutEffect(place, [items, chosen, place])
  useEffect(() => {
    const body = bodyOf()
    let waiting = 0
    const sizes = new ResizeObserver(() => {
      cancelAnimationFrame(waiting)
      waiting = requestAnimationFrame(place)
    })
    for (const card of cards.current.values()) sizes.observe(card)
    if (body !== null) for (const child of [body, ...body.children]) sizes.observe(child)
    return () => (sizes.disconnect(), cancelAnimationFrame(waiting))
  }, [items, place])
  useScrollTogether(box)
  useCurrentEditInView(box, cards, chosen, placed)
  const [from, to] = useNear(box)
  return (
    <div
      ref={box}
      data-rail
      className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain"
      onClick={({ target, currentTarget }) =>
        (target === currentTarget || target === currentTarget.firstChild) && onLeave()
      }
      onKeyDown={({ key, defaultPrevented }) => key === 'Escape' && !defaultPrevented && onLeave()}
    >
      <div className="relative" style={{ height: placed.height }}>
        {items.map(({ id, card }, at) => {
          const top = placed.tops.get(id)
          const near = id === chosen || (top === undefined ? at < FIRST : top > from && top < to)
          return (
            <div
              key={id}
              ref={(element) => {
                if (element === null) cards.current.delete(id)
                else cards.current.set(id, element)
              }}
              className="absolute inset-x-3 transition-transform duration-150 ease-out"
              style={{
                transform: `translateY(${top ?? 0}px)`,
                // Not hidden, so that a form in it can take the focus at once.
                opacity: top === undefined ? 0 : 1,
                zIndex: id === chosen ? 1 : 0,
                // Cards far from the viewport keep their space and are rendered when they come near.
                height: near ? undefined : (heights.current.get(id) ?? USUAL_PX),
              }}
            >
              {near && <Measured id={id} heights={heights.current} card={card} />}
            </div>
          )
        })}
      </div>
    </div>
  )
}

interface MeasuredProps {
  id: string
  heights: Map<string, number>
  card: ReactNode
}

/** A card that records its height before it leaves the viewport. */
function Measured({ id, heights, card }: MeasuredProps) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = box.current
    return () => {
      if (element !== null && element.offsetHeight > 0) heights.set(id, element.offsetHeight)
    }
  }, [id, heights])
  return <div ref={box}>{card}</div>
}

/** The range of the rail in which cards are near the viewport, in pixels; changes in steps. */
function useNear(rail: React.RefObject<HTMLElement | null>): [from: number, to: number] {
  const [step, setStep] = useState(0)
  useEffect(() => {
    const box = rail.current
    if (box === null) return
    const look = () => setStep(Math.round(box.scrollTop / STEP_PX))
    look()
    box.addEventListener('scroll', look, { passive: true })
    return () => box.removeEventListener('scroll', look)
  }, [rail])
  return [step * STEP_PX - AROUND_PX, step * STEP_PX + AROUND_PX + innerHeight]
}

function measured(
  rail: HTMLElement,
  body: HTMLElement,
  cards: Map<string, HTMLElement>,
  { items, chosen }: Shown,
  before: Placed,
): Placed {
  // The rail starts lower in the window than the text. Both scroll together, so the difference is constant.
  const shift = rail.getBoundingClientRect().top - body.getBoundingClientRect().top
  const end = body.scrollHeight - shift
  const found = placesIn(body)
  const sizes = items.map(({ id, about }): RailCard => {
    const wanted = about.orphaned === true && about.section_id === null ? end : topOf(body, found, id, about) - shift
    return { id, wanted: Math.max(EDGE_PX, wanted), height: cards.get(id)?.offsetHeight ?? 0 }
  })
  const tops = placeCards(sizes, chosen, GAP_PX)
  const last = sizes.reduce((most, { id, height }) => Math.max(most, (tops.get(id) ?? 0) + height), 0)
  const height = Math.max(end, last + EDGE_PX)
  const same =
    before.height === height &&
    before.tops.size === tops.size &&
    [...tops].every(([id, top]) => before.tops.get(id) === top)
  return same ? before : { tops, height }
}

/** Marks, blocks and sections by id, queried once for all cards. */
function placesIn(body: HTMLElement): Map<string, Element> {
  const found = new Map<string, Element>()
  for (const element of body.querySelectorAll<HTMLElement>('mark[data-comment],[data-block-id],[data-section-id]')) {
    const { comment, blockId, sectionId } = element.dataset
    const id = comment ?? blockId ?? sectionId ?? ''
    if (!found.has(id)) found.set(id, element)
  }
  return found
}

/** The top of a part within the text, in pixels. */
function topOf(body: HTMLElement, places: Map<string, Element>, id: string, { section_id, block_id }: Place): number {
  const found = places.get(id) ?? places.get(block_id ?? '') ?? places.get(section_id ?? '')
  return found === undefined ? 0 : found.getBoundingClientRect().top - body.getBoundingClientRect().top + body.scrollTop
}

/** For this long, content that loads may still move a chosen card. */
const SETTLES_MS = 1200

/** Scrolls to the chosen card, and again while its position still changes. */
function useCurrentEditInView(
  rail: React.RefObject<HTMLElement | null>,
  cards: React.RefObject<Map<string, HTMLElement>>,
  chosen: string | null,
  { tops }: Placed,
): void {
  const until = useRef(0)
  useLayoutEffect(() => {
    until.current = performance.now() + SETTLES_MS
  }, [chosen])
  useEffect(() => {
    const [box, card, top] = [rail.current, cards.current.get(chosen ?? ''), tops.get(chosen ?? '')]
    if (box === null || card === undefined || top === undefined || performance.now() > until.current) return
    const [low, high] = [top + card.offsetHeight + EDGE_PX - box.clientHeight, top - EDGE_PX]
    if (box.scrollTop < low || box.scrollTop > high) box.scrollTop = Math.min(Math.max(box.scrollTop, low), high)
  }, [rail, cards, chosen, tops])
}

const CLOSE_PX = 1.5

/** Scrolls text and rail together, in both directions. A longer rail scrolls on alone. */
function useScrollTogether(rail: React.RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const [one, other] = [rail.current, bodyOf()]
    if (one === null || other === null) return
    const expected = new Map<HTMLElement, number>()
    const follow = (from: HTMLElement, to: HTMLElement) => () => {
      if (Math.abs(from.scrollTop - (expected.get(from) ?? Number.NaN)) < CLOSE_PX) return
      expected.delete(from)
      to.scrollTop = from.scrollTop
      expected.set(to, to.scrollTop)
    }
    const life = new AbortController()
    one.addEventListener('scroll', follow(one, other), { signal: life.signal, passive: true })
    other.addEventListener('scroll', follow(other, one), { signal: life.signal, passive: true })
    one.scrollTop = other.scrollTop
    expected.set(one, one.scrollTop)
    return () => life.abort()
  }, [rail])
}
