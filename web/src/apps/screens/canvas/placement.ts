/** Places on the canvas. Pure; CSS pixels, y downwards. */
import type { ScreenPlace } from '@outlast/sdk'

export interface Point {
  x: number
  y: number
}

/** The space between screens that are arranged automatically, with room for a title. The server places new screens by
 * the same: src/outlast/apps/screens/placement.py. */
export const GAP = 120

/** The bounding box of all places, or null if there are none. */
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

/** The free place for a screen of this size that is nearest to the wanted centre. */
export function freePlace(
  { width, height }: Pick<ScreenPlace, 'width' | 'height'>,
  middle: Point,
  others: readonly ScreenPlace[],
): ScreenPlace {
  const size = { width, height }
  const wanted = { x: middle.x - width / 2, y: middle.y - height / 2 }
  const gap = GAP - 1
  // Next to, below, left of or above one of the others, or exactly at the wanted place.
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

/** The same screens in rows, in reading order, starting at their present top left. Returns new places by id. */
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

/** From left to right, row by row: a row contains the screens that start within half a height of its first. */
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
