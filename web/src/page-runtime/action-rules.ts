/** The server's rules for actions of a page. Pure. */

const ACTION_NAME = /^[a-z][a-z0-9_.:-]{0,63}$/
/** The limit of an action's data as JSON, in bytes. */
export const MOST_DATA_BYTES = 16_000

/** True if an action's data is valid JSON and small enough to be sent. */
export function fits(data: Record<string, unknown>): boolean {
  try {
    return new TextEncoder().encode(JSON.stringify(data)).length <= MOST_DATA_BYTES
  } catch {
    return false
  }
}

/** Why an action is refused, for people to read, or null if it is accepted. */
export function refusal(name: string, data: Record<string, unknown>): string | null {
  if (!ACTION_NAME.test(name)) return `“${name.slice(0, 80)}” is not a valid action name.`
  return fits(data) ? null : 'The action is too large. The limit is 16 kB.'
}
