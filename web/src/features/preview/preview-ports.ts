import { queryOptions } from '@tanstack/react-query'
import type { PreviewPort } from '@outlast/sdk'
import { client } from '@/lib/queries'

const LOOK_EVERY_MS = 5_000

/** The ports of a sandbox, polled while they are shown. */
export const portsQuery = (sandboxId: string) =>
  queryOptions({
    queryKey: ['ports', sandboxId],
    queryFn: ({ signal }) => client.previewPorts(sandboxId, signal),
    refetchInterval: LOOK_EVERY_MS,
    staleTime: 0,
    retry: false,
  })

/** The initial port: a running service, else any service, else any open port. */
export function firstPort(ports: PreviewPort[]): number | null {
  const best = ports.find(({ state }) => state === 'healthy') ?? ports.find(({ service }) => service !== null)
  return (best ?? ports[0])?.port ?? null
}

/** A typed port number, or null if it is invalid. */
export function portOf(text: string): number | null {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}

export const labelOf = ({ port, service }: PreviewPort): string =>
  service === null ? `Port ${port}` : `${service} · ${port}`
