import { TryLater } from '@outlast/sdk'

const keys = new Map<string, string>()

/** Sends a person's request once: `what` identifies it with all of its parameters. If it is repeated before the outcome
 * of the first attempt is known, it is sent under the same key, so that the server executes it once. */
export async function once<T>(what: string, send: (idempotencyKey: string) => Promise<T>): Promise<T> {
  const key = keys.get(what) ?? crypto.randomUUID()
  keys.set(what, key)
  try {
    const answer = await send(key)
    keys.delete(what)
    return answer
  } catch (reason) {
    if (!(reason instanceof TryLater)) keys.delete(what)
    throw reason
  }
}
