import { createContext, useContext, useEffect, useMemo, useSyncExternalStore, type ReactNode } from 'react'
import type { OutlastClient } from '../client.ts'
import type { Store } from '../store.ts'
import { restWhileHidden, type Resting } from './hidden.ts'

const ClientContext = createContext<OutlastClient | null>(null)

export function OutlastProvider({ client, children }: { client: OutlastClient; children: ReactNode }) {
  return <ClientContext value={client}>{children}</ClientContext>
}

export function useClient(): OutlastClient {
  const client = useContext(ClientContext)
  if (client === null) throw new Error('Put the component inside <OutlastProvider client={…}>')
  return client
}

type Restful = Store<unknown> & Resting

interface Held {
  store: Restful
  users: number
}

const held = new WeakMap<OutlastClient, Map<string, Held>>()

/** Long enough to survive a remount, short enough to free the connection of a closed page. */
const LINGER_MS = 1000
/** One store per id for all components; its stream is open while at least one of them is mounted. */
export function useShared<S extends Restful>(key: string, make: (client: OutlastClient) => S): S {
  const client = useClient()
  // oxlint-disable-next-line exhaustive-deps -- `key` names what `make` builds
  const store = useMemo(() => find(client, key, make), [client, key])
  useEffect(() => hold(client, key, store), [client, key, store])
  useEffect(() => restWhileHidden(store), [store])
  return store
}

export const useStore = <T,>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get, store.get)

function shelf(client: OutlastClient): Map<string, Held> {
  const known = held.get(client) ?? new Map<string, Held>()
  held.set(client, known)
  return known
}

function find<S extends Restful>(client: OutlastClient, key: string, make: (client: OutlastClient) => S): S {
  const known = shelf(client).get(key)
  if (known !== undefined) return known.store as S
  const store = make(client)
  shelf(client).set(key, { store, users: 0 })
  return store
}

function hold(client: OutlastClient, key: string, store: Restful): () => void {
  const entry = shelf(client).get(key) ?? { store, users: 0 }
  shelf(client).set(key, entry)
  entry.users += 1
  entry.store.start()
  return () => {
    entry.users -= 1
    setTimeout(() => {
      if (entry.users > 0) return
      entry.store.stop()
      if (shelf(client).get(key) === entry) shelf(client).delete(key)
    }, LINGER_MS)
  }
}
