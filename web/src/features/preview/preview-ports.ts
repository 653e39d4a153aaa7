import { queryOptions } from '@tanstack/react-query'
import type { PreviewPort } from '@outlast/sdk'
import { client } from '@/lib/queries'

const LOOK_EVERY_MS = 5_000

/** The ports of a sandbox, looked up again while somebody looks. */
export const portsQuery = (sandboxId: string) =>
  queryOptions({
    queryKey: ['ports', sandboxId],
    queryFn: ({ signal }) => client.previewPorts(sandboxId, signal),
    refetchInterval: LOOK_EVERY_MS,
    staleTime: 0,
    retry: false,
  })

/** What is shown before anybody chose: a service that runs, else any service, else whatever listens. */
export function firstPort(ports: PreviewPort[]): number | null {
  const best = ports.find(({ state }) => state === 'healthy') ?? ports.find(({ service }) => service !== null)
  return (best ?? ports[0])?.port ?? null
}

/** A port as somebody types it; null when it is none. */
export function portOf(text: string): number | null {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

export const labelOf = ({ port, service }: PreviewPort): string =>
  service === null ? `Port ${port}` : `${service} · ${port}`
