import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Sandbox } from '@outlast/sdk'
import { Problem } from '@/components/problem'
import { Skeleton } from '@/components/placeholders'
import { useStored } from '@/lib/local-storage'
import { PreviewBar } from './preview-bar'
import { NoPorts, PreviewFrame } from './preview-frame'
import { firstPort, portsQuery } from './preview-ports'
import { isWidth } from './preview-widths'

/** The preview of a thread's sandbox, next to the conversation; on a phone in its place. */
export default function PreviewPanel({ sandbox, onClose }: { sandbox: Sandbox; onClose: () => void }) {
  const { data, error, isPending, refetch } = useQuery(portsQuery(sandbox.id))
  const [chosen, setChosen] = useState<number | null>(null)
  const [turn, setTurn] = useState(0)
  const [stored, setWidth] = useStored('outlast.preview.width')
  const width = isWidth(stored) ? stored : 'desktop'
  const ports = data?.items ?? []
  const [first, setFirst] = useState<number | null>(null)
  if (first === null && firstPort(ports) !== null) setFirst(firstPort(ports)) // stays, whichever ports open later
  const port = chosen ?? first
  const reload = () => setTurn((last) => last + 1)
  return (
    <section
      aria-label="Preview"
      className="flex min-w-0 flex-col border-l border-line bg-bg max-lg:fixed max-lg:inset-0 max-lg:z-20 max-lg:border-0 lg:w-[54%]"
    >
      <PreviewBar
        sandboxId={sandbox.id}
        ports={ports}
        port={port}
        width={width}
        onPort={setChosen}
        onWidth={setWidth}
        onReload={reload}
        onClose={onClose}
      />
      {port !== null ? (
        <PreviewFrame
          sandboxId={sandbox.id}
          port={port}
          width={width}
          turn={turn}
          asleep={sandbox.state === 'paused'}
          onWake={reload}
        />
      ) : error !== null ? (
        <Problem className="m-4" error={error} retry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton className="m-4 h-24" />
      ) : (
        <NoPorts />
      )}
    </section>
  )
}
