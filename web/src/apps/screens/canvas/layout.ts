/** Places on the canvas. Pure; CSS pixels, y downwards. */
import type { ScreenPlace } from '@outlast/sdk'

export interface Point {
  x: number
  y: number
}

/** Between screens that are laid out for somebody; above a screen there is room for its title. */
export const GAP = 120

/** The smallest box around all; null for none. */
export function boundsOf(places: readonly ScreenPlace[]): ScreenPlace | null {
  if (places.length === 0) return null
  const left = Math.min(...places.map(({ x }) => x))
  const top = Math.min(...places.map(({ y }) => y))
  const right = Math.max(...places.map(({ x, width }) => x + width))
  const bottom = Math.max(...places.map(({ y, height }) => y + height))
  return { x: left, y: top, width: right - left, height: bottom - top }
}

const apart = (one: ScreenPlace, other: ScreenPlace, gap: number): boolean =>
  one.x + one.width + gap <= other.x ||
  other.x + other.width + gap <= one.x ||
  one.y + one.height + gap <= other.y ||
  other.y + other.height + gap <= one.y

/** Where a screen of this size touches no other, as near as possible to where its middle is wanted. */
export function freePlace(
  { width, height }: Pick<ScreenPlace, 'width' | 'height'>,
  middle: Point,
  others: readonly ScreenPlace[],
): ScreenPlace {
  const size = { width, height }
  const wanted = { x: middle.x - width / 2, y: middle.y - height / 2 }
  const gap = GAP - 1
  // Right beside, below, left of or above one of the others, or exactly where it is wanted.
  const tries = [wanted, ...others.flatMap((other) => beside(other, size, wanted))]
  const free = tries
    .map((point) => ({ ...size, x: Math.round(point.x), y: Math.round(point.y) }))
    .filter((place) => others.every((other) => apart(place, other, gap)))
  const far = ({ x, y }: Point) => Math.hypot(x - wanted.x, y - wanted.y)
  const best = free.toSorted((one, other) => far(one) - far(other))[0]
  return best ?? { ...size, x: Math.round(wanted.x), y: Math.round(wanted.y) }
}

function beside(other: ScreenPlace, { width, height }: Pick<ScreenPlace, 'width' | 'height'>, wanted: Point): Point[] {
  const xs = [other.x + other.width + GAP, other.x - GAP - width]
  const ys = [other.y + other.height + GAP, other.y - GAP - height]
  return [
    ...xs.flatMap((x) => [other.y, wanted.y].map((y) => ({ x, y }))),
    ...ys.flatMap((y) => [other.x, wanted.x].map((x) => ({ x, y }))),
    ...xs.flatMap((x) => ys.map((y) => ({ x, y }))),
  ]
}

/** The same screens in rows, in reading order, beginning where they begin now. Answers new places by id. */
export function tidy<S extends ScreenPlace & { id: string }>(screens: readonly S[]): Map<string, Point> {
  const bounds = boundsOf(screens)
  const places = new Map<string, Point>()
  if (bounds === null) return places
  const perRow = Math.max(1, Math.ceil(Math.sqrt(screens.length)))
  const ordered = inReadingOrder(screens)
  let y = bounds.y
  for (let first = 0; first < ordered.length; first += perRow) {
    const row = ordered.slice(first, first + perRow)
    let x = bounds.x
    for (const { id, width } of row) {
      places.set(id, { x, y })
      x += width + GAP
    }
    y += Math.max(...row.map(({ height }) => height)) + GAP
  }
  return places
}

/** From left to right, row by row: what begins within half a height of a row's first belongs to the row. */
export function inReadingOrder<S extends ScreenPlace>(screens: readonly S[]): S[] {
  const left = screens.toSorted((one, other) => one.y - other.y || one.x - other.x)
  const ordered: S[] = []
  while (left.length > 0) {
    const [first] = left as [S]
    const row = left.filter(({ y }) => y < first.y + first.height / 2)
    ordered.push(...row.toSorted((one, other) => one.x - other.x))
    left.splice(0, left.length, ...left.filter((one) => !row.includes(one)))
  }
  return ordered
}
