/** The order of a document's rows. */

interface NewRow {
  key: string
  after: string | null
}

/** The keys of blocks, with those of new blocks at their places. Pure. */
export function withNewRows(keys: readonly string[], fresh: readonly NewRow[]): readonly string[] {
  if (fresh.length === 0) return keys
  const rows = [...keys]
  for (const { key, after } of fresh) {
    if (rows.includes(key)) continue
    const at = after === null ? 0 : rows.indexOf(after) + 1
    rows.splice(after !== null && at === 0 ? rows.length : at, 0, key)
  }
  return rows
}

const ROW = '[data-row]'

const keysOf = (body: Element): string[] =>
  [...body.querySelectorAll<HTMLElement>(ROW)].map((row) => row.dataset['row'] ?? '')

/** The row above (-1) or below (1) one in the whole document; null at its ends. */
export function neighbour(body: Element | null, key: string | null, by: -1 | 1): string | null {
  if (body === null) return null
  const keys = keysOf(body)
  if (key === null) return (by === 1 ? keys[0] : keys.at(-1)) ?? null
  const at = keys.indexOf(key)
  return at === -1 ? null : (keys[at + by] ?? null)
}

export const rowOf = (body: Element | null, key: string): HTMLElement | null =>
  body?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null
