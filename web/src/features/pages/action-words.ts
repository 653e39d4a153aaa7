/** An action in a line. Pure. */
import type { PageAction } from '@outlast/sdk'

/** "refresh", "add-item: title Milk": the name and the values that came with it. */
export function wordsOf({ name, data }: Pick<PageAction, 'name' | 'data'>): string {
  const values = Object.entries(data).map(([key, value]) => `${key} ${short(value)}`)
  return values.length === 0 ? name : `${name}: ${values.join(', ')}`
}

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
