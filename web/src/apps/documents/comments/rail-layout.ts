/** Positions of the cards next to a document. Pure. */

export interface RailCard {
  id: string
  /** The top of the part that the card is about, in pixels. */
  wanted: number
  height: number
}

/** The distance by which the chosen card may be moved down, so that the cards above it stay visible. */
const GIVES_WAY_PX = 60

/** The top of each card in pixels: next to the text it is about if there is room, in the same order, without overlaps.
 * The chosen card keeps its place and its neighbours make room, if necessary above the visible area until another card
 * (or none) is chosen. */
export function placeCards(cards: readonly RailCard[], chosen: string | null, gap: number): Map<string, number> {
  const tops = downwards(cards, gap)
  const at = cards.findIndex(({ id }) => id === chosen)
  const [card, lies] = [cards[at], tops[at]]
  if (card !== undefined && lies !== undefined) {
    const stands = Math.min(lies, card.wanted + GIVES_WAY_PX)
    const rest = cards.slice(at + 1)
    tops.splice(at, cards.length - at, stands, ...downwards(rest, gap, stands + card.height + gap))
    for (let above = at - 1; above >= 0; above -= 1)
      tops[above] = Math.min(tops[above] ?? 0, (tops[above + 1] ?? 0) - (cards[above]?.height ?? 0) - gap)
  }
  return new Map(cards.map(({ id }, index) => [id, tops[index] ?? 0]))
}

/** Each card at its wanted place, or below the card before it; the first not above `least`. */
function downwards(cards: readonly RailCard[], gap: number, least = 0): number[] {
  let free = least
  return cards.map(({ wanted, height }) => {
    const top = Math.max(wanted, free)
    free = top + height + gap
    return top
  })
}
