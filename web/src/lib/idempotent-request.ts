import { TryLater } from '@outlast/sdk'

const keys = new Map<string, string>()

/** Sends what a person wants done once: `what` names it, with all that is asked for. Wanted again while it is not known
 * whether the first try arrived, it is sent under the same key, so that the server does it once. */
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
