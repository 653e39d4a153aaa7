/** Where the cards beside a document stand. Pure. */

export interface RailCard {
  id: string
  /** How far down what it is about begins, in pixels. */
  wanted: number
  height: number
}

/**
 * The top of each card, in pixels: beside what it is about where there is room, in the same order, none over another.
 * The chosen card stands exactly where it wants to; its neighbours make way.
 */
export function placeCards(cards: readonly RailCard[], chosen: string | null, gap: number): Map<string, number> {
  const at = Math.max(
    0,
    cards.findIndex(({ id }) => id === chosen),
  )
  const tops = cards.map(({ wanted }) => wanted)
  for (let below = at + 1; below < cards.length; below += 1) {
    const above = cards[below - 1]
    if (above !== undefined) tops[below] = Math.max(tops[below] ?? 0, (tops[below - 1] ?? 0) + above.height + gap)
  }
  for (let above = at - 1; above >= 0; above -= 1) {
    const card = cards[above]
    if (card !== undefined) tops[above] = Math.min(tops[above] ?? 0, (tops[above + 1] ?? 0) - card.height - gap)
  }
  return new Map(settled(cards, tops, gap).map((top, index) => [cards[index]?.id ?? '', top]))
}

/** None above the document's beginning: what was pushed out comes down, and pushes the others before it. */
function settled(cards: readonly RailCard[], tops: number[], gap: number): number[] {
  let least = 0
  return tops.map((top, index) => {
    const settledTop = Math.max(top, least)
    least = settledTop + (cards[index]?.height ?? 0) + gap
    return settledTop
  })
}
