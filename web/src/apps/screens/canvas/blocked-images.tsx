import { useMutation } from '@tanstack/react-query'
import { ImageOff } from 'lucide-react'
import { useState } from 'react'
import type { ScreenData } from '@outlast/sdk'
import { Button } from '@/components/button'
import { client } from '@/lib/queries'
import { useCanvas } from './canvas-context'
import { useImageHosts } from './image-hosts'

const NAMED = 3
// Keeps its size at every zoom level, until the frame is too narrow for it.
const ZOOM = 'max(0.25, var(--zoom, 1))'
const STEADY = { width: `calc(100% * ${ZOOM})`, transform: `scale(calc(1 / ${ZOOM}))` }

/** Asks once about the hosts whose images the browser blocked in this screen. Only editors are asked. */
export function BlockedImages({ screen, reload }: { screen: ScreenData; reload: () => void }) {
  const { mayEdit } = useCanvas()
  const [later, setLater] = useState<ReadonlySet<string>>(new Set())
  const known = useImageHosts(screen)
  const hosts = known.hosts
    .filter(({ host, allowed_at }) => allowed_at === null && !later.has(host))
    .map(({ host }) => host)
  const allow = useMutation({
    mutationFn: () => Promise.all(hosts.map((host) => client.screens.allowImageHost(screen.id, host))),
    onSuccess: async () => {
      await known.refetch()
      reload()
    },
  })
  if (!mayEdit || hosts.length === 0) return null
  return (
    <div
      role="status"
      style={STEADY}
      className="nodrag pointer-events-auto absolute bottom-0 left-0 flex origin-bottom-left cursor-default flex-wrap items-center gap-x-2 gap-y-1.5 bg-raised/95 px-3 py-2 text-[13px]"
    >
      <ImageOff className="size-4 shrink-0 text-amber" aria-hidden />
      <p className="min-w-40 flex-1 text-muted [overflow-wrap:anywhere]">
        {allow.isError ? allow.error.message : `This screen loads images from ${joinHosts(hosts)}.`}
      </p>
      <Button size="sm" look="primary" disabled={allow.isPending} onClick={() => allow.mutate()}>
        Allow
      </Button>
      <Button size="sm" onClick={() => setLater(new Set([...later, ...hosts]))}>
        Not now
      </Button>
    </div>
  )
}

function joinHosts(hosts: string[]): string {
  const shown = hosts.slice(0, NAMED)
  const more = hosts.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}
