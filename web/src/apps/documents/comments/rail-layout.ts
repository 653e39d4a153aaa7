/** Where the cards beside a document stand. Pure. */

export interface RailCard {
  id: string
  /** How far down what it is about begins, in pixels. */
  wanted: number
  height: number
}

/** How far the chosen card may come down from its place, so that those above it can be seen. */
const GIVES_WAY_PX = 60

/**
 * The top of each card, in pixels: beside what it is about where there is room, in the same order, none over another.
 * The chosen card stands where it wants to and its neighbours make way, if need be up out of sight until another one (or
 * none) is chosen.
 */
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

/** Each where it wants to be, or below the one before it; the first not above `least`. */
function downwards(cards: readonly RailCard[], gap: number, least = 0): number[] {
  let free = least
  return cards.map(({ wanted, height }) => {
    const top = Math.max(wanted, free)
    free = top + height + gap
    return top
  })
}
