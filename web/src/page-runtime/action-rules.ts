/** What an action of a page may be, as the server takes it. Pure. */

const ACTION_NAME = /^[a-z][a-z0-9_.:-]{0,63}$/
/** Of an action's data as JSON, in bytes. */
export const MOST_DATA_BYTES = 16_000

/** Whether an action's data is small enough to be sent, and JSON at all. */
export function fits(data: Record<string, unknown>): boolean {
  try {
    return new TextEncoder().encode(JSON.stringify(data)).length <= MOST_DATA_BYTES
  } catch {
    return false
  }
}

/** Why an action is not taken, for people to read; null: it is. */
export function refusal(name: string, data: Record<string, unknown>): string | null {
  if (!ACTION_NAME.test(name)) return `“${name.slice(0, 80)}” is not a valid action name.`
  return fits(data) ? null : 'The action is too large. The limit is 16 kB.'
}
